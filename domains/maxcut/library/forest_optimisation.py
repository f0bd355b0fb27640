"""Exact optimisation over random induced forests.

Method: vertices join a set in random order unless they would close a circle in it; the set then induces a
forest, and dynamic programming finds the best sides of all its vertices at once while the others stay. Ties
are drawn. Ends after PATIENCE forests in a row without a gain.
Source: F. Hamze, N. de Freitas, "From fields to trees" (2004); A. Selby, "Efficient subgraph-based sampling
of Ising- type models with frustration" (2014).
Complexity: O((n + m) log n) per forest. Work units: one per forest.
"""

import numpy as np
from numba import njit
from parts.generic.union_find import root_of

PATIENCE = 60  # tunable: int 5..500


@njit(cache=True)
def grow_forest(order, offsets, neighbors, parent, inside, mark):
    """Mark in `inside` the vertices of a random induced forest."""
    inside[:] = 0
    mark[:] = -1
    for v in range(order.size):
        parent[v] = v
    for v in order:
        is_tree = True
        for p in range(offsets[v], offsets[v + 1]):
            u = neighbors[p]
            if inside[u]:
                root = root_of(u, parent)
                if mark[root] == v:
                    is_tree = False
                    break
                mark[root] = v
        if is_tree:
            inside[v] = 1
            for p in range(offsets[v], offsets[v + 1]):
                u = neighbors[p]
                if inside[u]:
                    parent[root_of(u, parent)] = v


@njit(cache=True)
def optimise_forest(x, offsets, neighbors, weights, inside, above, link, queue, value, rng):
    """Best signs of the vertices with inside > 0 while the others stay; returns what the cut gained.

    value, int64 (n, 2): weight cut below and beside a vertex on side -1 and +1. Sets inside to 2.
    """
    gained = 0
    for root in range(x.size):
        if inside[root] != 1:
            continue
        queue[0] = root
        above[root] = -1
        inside[root] = 2
        top, i, before = 1, 0, 0
        while i < top:
            v = queue[i]
            i += 1
            value[v, 0], value[v, 1] = 0, 0
            for p in range(offsets[v], offsets[v + 1]):
                u = neighbors[p]
                if inside[u] == 0:
                    side = 0 if x[u] > 0 else 1
                    value[v, side] += weights[p]
                    before += weights[p] * (1 - x[v] * x[u]) // 2
                elif inside[u] == 1:
                    inside[u] = 2
                    above[u] = v
                    link[u] = weights[p]
                    before += weights[p] * (1 - x[v] * x[u]) // 2
                    queue[top] = u
                    top += 1
        for i in range(top - 1, 0, -1):
            v = queue[i]
            u = above[v]
            value[u, 0] += max(value[v, 0], value[v, 1] + link[v])
            value[u, 1] += max(value[v, 1], value[v, 0] + link[v])
        for i in range(top):
            v = queue[i]
            lower, upper = value[v, 0], value[v, 1]
            if i > 0:
                if x[above[v]] > 0:
                    lower += link[v]
                else:
                    upper += link[v]
            elif max(lower, upper) > before:
                gained += max(lower, upper) - before
            if lower == upper:
                x[v] = 1 if rng.random() < 0.5 else -1
            else:
                x[v] = 1 if upper > lower else -1
    return gained


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    offsets, neighbors, weights = env_data["offsets"], env_data["neighbors"], env_data["edge_weights"]
    x = np.array(2 * state.sequence - 1, dtype=np.int32)
    parent, inside, mark, above, link, queue = (np.zeros(n, dtype=np.int32) for _ in range(6))
    value = np.zeros((n, 2), dtype=np.int64)
    idle = 0
    while idle < PATIENCE and not budget.exhausted():
        order = rng.permutation(n).astype(np.int32)
        grow_forest(order, offsets, neighbors, parent, inside, mark)
        gained = optimise_forest(x, offsets, neighbors, weights, inside, above, link, queue, value, rng)
        budget.charge(1)
        idle = 0 if gained > 0 else idle + 1
    state.sequence = ((x + 1) // 2).astype(np.int32)
    return state
