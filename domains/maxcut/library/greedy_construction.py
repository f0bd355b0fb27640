"""Greedy construction in random order.

Method: vertices are placed one after the other on the side where they cut more weight to those already placed
(ties at random); the best of STARTS orders is kept.
Source: S. Sahni, T. Gonzalez, "P-complete approximation problems" (1976).
Complexity: O(STARTS (n + m)). Work units: one per order.
"""

import numpy as np
from numba import njit

STARTS = 5  # tunable: int 1..50


@njit(cache=True)
def place_in_order(order, offsets, neighbors, weights, rng, x):
    """Fill `x` with signs, vertex by vertex in `order`; returns the cut."""
    x[:] = 0
    cut = 0
    for v in order:
        pull = 0
        placed = 0
        for p in range(offsets[v], offsets[v + 1]):
            pull -= weights[p] * x[neighbors[p]]
            placed += weights[p] * abs(x[neighbors[p]])
        if pull == 0:
            x[v] = 1 if rng.random() < 0.5 else -1
        else:
            x[v] = 1 if pull > 0 else -1
        cut += (placed + abs(pull)) // 2
    return cut


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    offsets, neighbors, weights = env_data["offsets"], env_data["neighbors"], env_data["edge_weights"]
    x, best, best_cut = np.zeros(n, dtype=np.int32), np.ones(n, dtype=np.int32), 0
    for start in range(STARTS):
        if start and budget.exhausted():
            break
        order = rng.permutation(n).astype(np.int32)
        cut = place_in_order(order, offsets, neighbors, weights, rng, x)
        budget.charge(1)
        if start == 0 or cut > best_cut:
            best[:], best_cut = x, cut
    state.sequence = ((best + 1) // 2).astype(np.int32)
    return state
