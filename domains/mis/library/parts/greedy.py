"""Greedy construction; the file brings ``greedy_choice``."""

import numpy as np
from numba import njit
from parts.independent_set import read_graph
from parts.taker import greedy_choice
from parts.xorshift import draw


@njit(cache=True)
def greedy_set(first, near, chosen, stream):
    """One set, written into `chosen` (0/1); returns its size."""
    n = chosen.size
    free, place = np.arange(n), np.arange(n)
    degree = np.empty(n, np.int64)
    for v in range(n):
        degree[v] = first[v + 1] - first[v]
        chosen[v] = 0
    count, size = n, 0
    while count > 0:
        v = free[greedy_choice(free, count, degree, draw(stream, 1 << 31))]
        chosen[v] = 1
        size += 1
        for k in range(first[v] - 1, first[v + 1]):
            u = v if k < first[v] else near[k]
            if place[u] >= count:
                continue
            count -= 1
            last = free[count]
            free[place[u]], place[last] = last, place[u]
            free[count], place[u] = u, count
            if u != v:
                for j in range(first[u], first[u + 1]):
                    degree[near[j]] -= 1
    return size


def build_sets(env_data, state, restarts):
    """Give `state` the largest of at most `restarts` greedy sets."""
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_vertices"]
    _adj, first, near = env_data["prepared"](read_graph)
    stream = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
    chosen, best = np.zeros(n, np.int32), -1
    for _ in range(restarts):
        size = greedy_set(first, near, chosen, stream)
        budget.charge(1)
        if size > best:
            best = size
            state.sequence = chosen.copy()
        if budget.exhausted():
            break
    return state
