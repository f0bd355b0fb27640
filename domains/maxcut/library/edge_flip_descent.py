"""Descent by single flips and flips of both ends of an edge.

Method: goes round the vertices; a vertex moves alone if that gains, else together with the neighbour with
which it gains most, if that gains. A cut edge keeps being cut when both ends move: such pairs escape from
local optima of single flips. Stops when a whole round changes nothing.
Source: Y. Ma, J. Hao, "A multiple search operator heuristic for the max-k-cut problem" (2017), its pair
moves; B. Kernighan, S. Lin, "An efficient heuristic procedure for partitioning graphs" (1970).
Complexity: O(n + m) per round. Work units: one per round.
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
def pair_rounds(x, gains, offsets, neighbors, weights, rounds):
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
                continue
            partner, most = -1, 0
            for p in range(offsets[v], offsets[v + 1]):
                u = neighbors[p]
                gain = gains[v] + gains[u] - 2 * weights[p] * x[v] * x[u]
                if gain > most:
                    partner, most = u, gain
            if partner >= 0:
                moved = True
                flip(v, x, gains, offsets, neighbors, weights)
                flip(partner, x, gains, offsets, neighbors, weights)
    return moved


def run(env_data, state, calc_makespan_fn):
    budget, n = env_data["budget"], env_data["num_nodes"]
    offsets, neighbors, weights = env_data["offsets"], env_data["neighbors"], env_data["edge_weights"]
    x, gains = np.array(2 * state.sequence - 1, dtype=np.int32), np.zeros(n, dtype=np.int32)
    gains_of(x, offsets, neighbors, weights, gains)
    moved = True
    while moved and not budget.exhausted():
        moved = pair_rounds(x, gains, offsets, neighbors, weights, ROUNDS_PER_CHUNK)
        budget.charge(ROUNDS_PER_CHUNK)
    state.sequence = ((x + 1) // 2).astype(np.int32)
    return state
