"""Randomised greedy sets: each vertex is drawn from the free ones with few free neighbours.

Method: let the free vertices have between a and b free neighbours. Those with at most a + (b - a) / 10 are
eligible, and one of them joins the set (semi-greedy construction of a GRASP). The best set is kept.

Source: T. A. Feo, M. G. C. Resende, S. H. Smith, A greedy randomized adaptive search procedure for maximum
independent set, 1994.

Complexity: O(n k + m) per set, k: size of the set. Work units: one per set.
"""

import numpy as np
from numba import njit

RESTARTS = 30  # tunable: int 1..5000


@njit(cache=True)
def draw(stream, bound):
    """Next number on 0 .. bound - 1 of the xorshift generator whose state is stream[0]."""
    x = stream[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    stream[0] = x
    return (np.int64(x >> np.uint64(33)) * bound) >> 31


@njit(cache=True)
def neighbour_lists(adj):
    """Neighbours of vertex v at first[v] .. first[v + 1] - 1 of the second array."""
    n = adj.shape[0]
    first = np.zeros(n + 1, np.int64)
    for u in range(n):
        degree = 0
        for v in range(n):
            degree += adj[u, v]
        first[u + 1] = first[u] + degree
    near = np.empty(first[n], np.int32)
    for u in range(n):
        at = first[u]
        for v in range(n):
            if adj[u, v]:
                near[at] = v
                at += 1
    return first, near


# exchangeable: greedy-choice
@njit(cache=True)
def greedy_choice(free, count, degree, ties):
    """Index in free[:count] of the vertex to take; `ties` is a random number below 2^31."""
    least, most = degree[free[0]], degree[free[0]]
    for i in range(count):
        least, most = min(least, degree[free[i]]), max(most, degree[free[i]])
    limit = least + (most - least) // 10
    eligible = 0
    for i in range(count):
        eligible += degree[free[i]] <= limit
    wanted = ties % eligible
    for i in range(count):
        if degree[free[i]] <= limit:
            if wanted == 0:
                return i
            wanted -= 1
    return 0


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


def run(env_data, state, calc_makespan_fn):
    """Give `state` the largest of at most RESTARTS sets."""
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_vertices"]
    first, near = neighbour_lists(np.array(env_data["adj"], dtype=np.uint8))
    stream = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
    chosen, best = np.zeros(n, np.int32), -1
    for _ in range(RESTARTS):
        size = greedy_set(first, near, chosen, stream)
        budget.charge(1)
        if size > best:
            best = size
            state.sequence = chosen.copy()
        if budget.exhausted():
            break
    return state
