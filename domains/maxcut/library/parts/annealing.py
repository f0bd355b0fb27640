"""Simulated annealing by single flips."""

import numpy as np
from numba import njit
from parts.gains import flip


@njit(cache=True)
def anneal(x, gains, offsets, neighbors, weights, table, heat, sweeps, random_state):
    """`sweeps` rounds over all vertices at temperature `heat`; returns the change of the cut.

    table[i], uint64, is 2^32 exp(-16 i / table.size): the odds of a loss of 16 i / table.size times the heat.
    A xorshift generator draws from `random_state`, uint64 (1,).
    """
    bits = random_state[0]
    change = 0
    scale = table.size / (16.0 * heat)
    for _ in range(sweeps):
        for v in range(x.size):
            gain = gains[v]
            if gain < 0:
                place = int(-gain * scale)
                if place >= table.size:
                    continue
                bits ^= bits << np.uint64(13)
                bits ^= bits >> np.uint64(7)
                bits ^= bits << np.uint64(17)
                if (bits >> np.uint64(32)) >= table[place]:
                    continue
            change += gain
            flip(v, x, gains, offsets, neighbors, weights)
    random_state[0] = bits
    return change


def odds_table(size):
    """What `anneal` looks up."""
    return (np.exp(-16.0 * np.arange(size) / size) * 2.0**32).astype(np.uint64)


def heat_unit(weights, n):
    """Temperatures are multiples of the root of the mean sum of squared weights at a vertex."""
    return np.sqrt(max(float((weights.astype(np.float64) ** 2).sum()) / n, 1e-9))


# exchangeable: cooling
def cooling(hot, cold, progress):
    """Temperature when the share `progress` (0 to 1) of a cooling is done."""
    return hot * (cold / hot) ** progress
