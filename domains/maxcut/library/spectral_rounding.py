"""Spectral rounding.

Method: power iteration towards the eigenvector of the adjacency matrix, scaled by degrees, with the least
eigenvalue; its entries are cut at the best of all thresholds. The heavy edges join entries of different sign.
Source: C. Delorme, S. Poljak, "Laplacian eigenvalues and the maximum cut problem" (1993); L. Trevisan, "Max
cut and the smallest eigenvalue" (2012).
Complexity: O(ROUNDS m + n log n). Work units: one per round.
"""

import numpy as np
from numba import njit

ROUNDS = 200  # tunable: int 30..1000
SHIFT = 1.0  # tunable: float 0.3..2.0


@njit(cache=True)
def power_rounds(vector, scale, offsets, neighbors, weights, shift, rounds):
    """`rounds` multiplications by (shift I - scaled adjacency), the length set to 1 after each."""
    n = vector.size
    product = np.empty(n)
    for _ in range(rounds):
        square = 0.0
        for v in range(n):
            total = 0.0
            for p in range(offsets[v], offsets[v + 1]):
                u = neighbors[p]
                total += weights[p] * vector[u] * scale[u]
            product[v] = shift * vector[v] - total * scale[v]
            square += product[v] * product[v]
        if square == 0.0:
            return
        vector[:] = product / np.sqrt(square)


@njit(cache=True)
def best_threshold(order, offsets, neighbors, weights, x):
    """Signs of the best cut between the beginning and the end of `order`."""
    x[:] = 1
    cut, best_cut, best_place = 0, 0, 0
    for place in range(order.size):
        v = order[place]
        for p in range(offsets[v], offsets[v + 1]):
            cut += weights[p] * x[neighbors[p]]
        x[v] = -1
        if cut > best_cut:
            best_cut, best_place = cut, place + 1
    for place in range(best_place, order.size):
        x[order[place]] = 1


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    offsets, neighbors, weights = env_data["offsets"], env_data["neighbors"], env_data["edge_weights"]
    absolute = np.zeros(n)
    np.add.at(absolute, np.repeat(np.arange(n), np.diff(offsets)), np.abs(weights.astype(np.float64)))
    scale = 1.0 / np.sqrt(np.maximum(absolute, 1.0))
    vector = rng.standard_normal(n)
    part = max(1, min(20, 4_000_000 // (neighbors.size + n)))
    done = 0
    while done < ROUNDS:
        power_rounds(vector, scale, offsets, neighbors, weights, SHIFT, part)
        budget.charge(part)
        done += part
        if budget.exhausted():
            break
    x = np.ones(n, dtype=np.int32)
    best_threshold(np.argsort(vector).astype(np.int32), offsets, neighbors, weights, x)
    state.sequence = ((x + 1) // 2).astype(np.int32)
    return state
