"""Semidefinite relaxation of low rank, rounded by random hyperplanes.

Method: each vertex has a unit vector of length RANK; in turn every vector is set against the weighted sum of
its neighbours' vectors, which maximises the relaxation coordinate by coordinate. Then HYPERPLANES random
hyperplanes divide the vectors; the best cut is kept.
Source: M. Goemans, D. Williamson, "Improved approximation algorithms for maximum cut and satisfiability
problems using semidefinite programming" (1995); S. Burer, R. Monteiro (2003); P. Wang, W. Chang, J. Kolter,
"The mixing method" (2017).
Complexity: O(RANK m) per sweep, O(RANK n + m) per hyperplane. Work units: RANK per sweep, one per hyperplane.
"""

import numpy as np
from numba import njit

RANK = 16  # tunable: int 2..48
SWEEPS = 40  # tunable: int 5..200
HYPERPLANES = 50  # tunable: int 1..500


@njit(cache=True)
def mix(vectors, first, last, offsets, neighbors, weights):
    """Set the vectors of first..last - 1 against their neighbours', one after the other."""
    rank = vectors.shape[1]
    total = np.empty(rank)
    for v in range(first, last):
        total[:] = 0.0
        for p in range(offsets[v], offsets[v + 1]):
            u, weight = neighbors[p], weights[p]
            for k in range(rank):
                total[k] += weight * vectors[u, k]
        square = 0.0
        for k in range(rank):
            square += total[k] * total[k]
        if square > 0.0:
            length = np.sqrt(square)
            for k in range(rank):
                vectors[v, k] = -total[k] / length


@njit(cache=True)
def divide(vectors, normal, offsets, neighbors, weights, x):
    """Signs by the side of the hyperplane with this normal; returns the cut."""
    for v in range(x.size):
        product = 0.0
        for k in range(normal.size):
            product += vectors[v, k] * normal[k]
        x[v] = 1 if product >= 0.0 else -1
    fourfold = 0
    for v in range(x.size):
        for p in range(offsets[v], offsets[v + 1]):
            fourfold += weights[p] * (1 - x[v] * x[neighbors[p]])
    return fourfold // 4


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    offsets, neighbors, weights = env_data["offsets"], env_data["neighbors"], env_data["edge_weights"]
    vectors = rng.standard_normal((n, RANK))
    vectors /= np.sqrt((vectors**2).sum(axis=1))[:, None]
    part = max(1, min(n, 2_000_000 * n // (RANK * neighbors.size + n)))
    first, sweep = 0, 0
    while sweep < SWEEPS and not budget.exhausted():
        mix(vectors, first, min(first + part, n), offsets, neighbors, weights)
        first += part
        if first >= n:
            first = 0
            sweep += 1
            budget.charge(RANK)
    x, best, best_cut = np.ones(n, dtype=np.int32), np.ones(n, dtype=np.int32), 0
    for k in range(HYPERPLANES):
        cut = divide(vectors, rng.standard_normal(RANK), offsets, neighbors, weights, x)
        budget.charge(1)
        if k == 0 or cut > best_cut:
            best[:], best_cut = x, cut
        if budget.exhausted():
            break
    state.sequence = ((best + 1) // 2).astype(np.int32)
    return state
