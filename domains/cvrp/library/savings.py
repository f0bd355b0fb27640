"""Savings: start with a route per customer and merge route ends by falling saving while the load fits.

The saving of joining customers a and b is d(0, a) + d(0, b) - shape d(a, b). Several route shapes between LOW
and HIGH are tried, the best solution is kept.
Method: parallel savings with route-shape parameter.
Source: G. Clarke, J. W. Wright, "Scheduling of vehicles from a central depot to a number of delivery points"
(1964); P. C. Yellow, "A computational modification to the savings method of vehicle scheduling" (1970).
Complexity: O(SHAPES n^2 log n), O(SHAPES n log n) for many customers. Work units: one per shape.
"""

import numpy as np
from numba import njit
from parts.generic.union_find import root_of
from parts.routes import take_shortest

SHAPES = 7  # tunable: int 1..20
LOW = 0.7  # tunable: float 0.3..1.0
HIGH = 1.3  # tunable: float 1.0..2.0


@njit(cache=True)
def merge_by_saving(first, second, links, root, load, demands, capacity):
    """Join the route ends first[i] and second[i] in turn where both are ends and the loads fit."""
    n = demands.size
    for node in range(n):
        links[node, 0] = links[node, 1] = 0
        root[node] = node
        load[node] = demands[node]
    for i in range(first.size):
        a, b = first[i], second[i]
        if links[a, 1] or links[b, 1]:
            continue
        one, other = root_of(a, root), root_of(b, root)
        if one == other or load[one] + load[other] > capacity:
            continue
        root[other] = one
        load[one] += load[other]
        links[a, 1 if links[a, 0] else 0] = b
        links[b, 1 if links[b, 0] else 0] = a


@njit(cache=True)
def walk_routes(links, dist):
    """The routes that links describe, as a sequence, and their length."""
    n = dist.shape[0]
    sequence = np.empty(2 * n, np.int32)
    seen = np.zeros(n, np.uint8)
    size, length = 0, 0
    for start in range(1, n):
        if seen[start] or links[start, 1]:
            continue
        if size > 0:
            sequence[size] = 0
            size += 1
        previous, node = 0, start
        while node > 0:
            length += dist[previous, node]
            sequence[size] = node
            size += 1
            seen[node] = 1
            following = links[node, 0] if links[node, 0] != previous else links[node, 1]
            previous, node = node, following
        length += dist[previous, 0]
    return sequence[:size].copy(), length


# exchangeable: savings
def ranked_pairs(dist, shape, rng):
    """Pairs of customers with a positive saving by falling saving: two int64 arrays.

    All pairs up to 1500 nodes, beyond that each customer with its 100 nearest.
    """
    n = len(dist)
    if n <= 1500:
        first, second = np.triu_indices(n - 1, 1)
        first, second = first + 1, second + 1
    else:
        near = [1 + np.argpartition(row, 100)[:101] for row in dist[1:, 1:]]
        first, second = np.repeat(np.arange(1, n), 101), np.concatenate(near)
        first, second = first[first != second], second[first != second]
    saving = dist[0, first] + dist[0, second] - shape * dist[first, second]
    order = np.argsort(-saving, kind="stable")
    order = order[saving[order] > 0]
    return first[order], second[order]


def run(env_data, state, calc_makespan_fn):
    n, capacity = env_data["num_nodes"], env_data["capacity"]
    dist = np.array(env_data["dist_matrix"], dtype=np.int32)
    demands = np.array(env_data["demands"], dtype=np.int64)
    links, root = np.zeros((n, 2), np.int32), np.zeros(n, np.int32)
    load = np.zeros(n, np.int64)

    def solutions():
        for shape in sorted(np.linspace(LOW, HIGH, SHAPES), key=lambda value: abs(value - 1.0)):
            first, second = ranked_pairs(dist, shape, env_data["rng"])
            merge_by_saving(first, second, links, root, load, demands, capacity)
            yield walk_routes(links, dist)

    return take_shortest(env_data, state, solutions())
