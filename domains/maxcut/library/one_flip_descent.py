"""Descent by single flips, first improvement.

Method: goes round the vertices in index order and moves each to the other side if that makes the cut heavier,
until a whole round changes nothing. The gains of all vertices are kept up to date.
Source: S. Sahni, T. Gonzalez, "P-complete approximation problems" (1976); P. Festa, P. Pardalos, M. Resende,
C. Ribeiro, "Randomized heuristics for the MAX-CUT problem" (2002).
Complexity: O(n) per round and O(degree) per flip. Work units: one per round.
"""

import numpy as np
from numba import njit

ROUNDS_PER_CHUNK = 4  # tunable: int 1..20


@njit(cache=True)
def gains_of(x, offsets, neighbors, weights, gains):
    """Fill in what flipping each vertex adds to the cut of the signs `x`; returns the cut."""
    fourfold = 0
    for v in range(x.size):
        gain = 0
        for p in range(offsets[v], offsets[v + 1]):
            product = x[v] * x[neighbors[p]]
            gain += weights[p] * product
            fourfold += weights[p] * (1 - product)
        gains[v] = gain
    return fourfold // 4


@njit(cache=True)
def flip(v, x, gains, offsets, neighbors, weights):
    """Move vertex v to the other side and update the gains."""
    gains[v] = -gains[v]
    x[v] = -x[v]
    double = 2 * x[v]
    for p in range(offsets[v], offsets[v + 1]):
        u = neighbors[p]
        gains[u] += double * weights[p] * x[u]


@njit(cache=True)
def improve_rounds(x, gains, offsets, neighbors, weights, rounds):
    """Up to `rounds` rounds of improving flips; whether the last one changed something."""
    moved = True
    for _ in range(rounds):
        if not moved:
            return False
        moved = False
        for v in range(x.size):
            if gains[v] > 0:
                moved = True
                flip(v, x, gains, offsets, neighbors, weights)
    return moved


def run(env_data, state, calc_makespan_fn):
    budget, n = env_data["budget"], env_data["num_nodes"]
    offsets, neighbors, weights = env_data["offsets"], env_data["neighbors"], env_data["edge_weights"]
    x, gains = np.array(2 * state.sequence - 1, dtype=np.int32), np.zeros(n, dtype=np.int32)
    gains_of(x, offsets, neighbors, weights, gains)
    moved = True
    while moved and not budget.exhausted():
        moved = improve_rounds(x, gains, offsets, neighbors, weights, ROUNDS_PER_CHUNK)
        budget.charge(ROUNDS_PER_CHUNK)
    state.sequence = ((x + 1) // 2).astype(np.int32)
    return state
