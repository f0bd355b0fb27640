"""Clarke and Wright: what joining two customers saves of the way over the depot."""

from numba import njit


@njit(cache=True)
def saving(first_to_depot, second_to_depot, between, first_demand, second_demand, capacity):
    """Return how much two customers should be neighbours in a route; pairs are joined by falling value.

    All arguments are floats. first_to_depot, second_to_depot, between: lengths of the edges of customers and
    depot; first_demand, second_demand: of the two; capacity: of a vehicle. A pair below 0 is not joined.
    """
    return first_to_depot + second_to_depot - between


# ---- Skeleton: everything below stays as it is. ----

"""Savings construction: a route per customer at first; the pair of route ends of the highest value is joined
while the load fits; then 2-opt within the routes. From the second solution on values get a little noise.
The shortest solution in the budget is returned.

Source: G. Clarke, J. W. Wright, Scheduling of vehicles from a central depot to a number of delivery points,
1964.
"""

import numpy as np
from numba import njit

NEAREST = 60
NOISE = 0.1


@njit(cache=True)
def rated_pairs(dist, demands, capacity, near, pairs, values):
    size = 0
    for a in range(1, near.shape[0]):
        for k in range(near.shape[1]):
            b = near[a, k]
            if b == 0 or b == a:
                continue
            pairs[0, size], pairs[1, size] = a, b
            values[size] = saving(
                float(dist[0, a]),
                float(dist[0, b]),
                float(dist[a, b]),
                float(demands[a]),
                float(demands[b]),
                float(capacity),
            )
            size += 1
    return size


@njit(cache=True)
def join(pairs, order, demands, capacity, links, route, load):
    n = demands.size
    for node in range(n):
        links[node, 0] = links[node, 1] = 0
        route[node] = node
        load[node] = demands[node]
    for i in order:
        a, b = pairs[0, i], pairs[1, i]
        if links[a, 1] or links[b, 1] or route[a] == route[b]:
            continue
        one, other = route[a], route[b]
        if load[one] + load[other] > capacity:
            continue
        load[one] += load[other]
        previous, node = 0, b
        while node:
            route[node] = one
            following = links[node, 0] if links[node, 0] != previous else links[node, 1]
            previous, node = node, following
        links[a, 1 if links[a, 0] else 0] = b
        links[b, 1 if links[b, 0] else 0] = a


@njit(cache=True)
def routes(links, dist):
    """Return the routes as a sequence, each improved by 2-opt."""
    n = dist.shape[0]
    sequence, seen, size = np.empty(2 * n, np.int32), np.zeros(n, np.uint8), 0
    for start in range(1, n):
        if seen[start] or links[start, 1]:
            continue
        if size:
            sequence[size] = 0
            size += 1
        begin, previous, node = size, 0, start
        while node:
            seen[node] = 1
            sequence[size] = node
            size += 1
            following = links[node, 0] if links[node, 0] != previous else links[node, 1]
            previous, node = node, following
        is_moving = True
        while is_moving:
            is_moving = False
            for i in range(begin, size - 1):
                before = sequence[i - 1] if i > begin else 0
                for j in range(i + 1, size):
                    after = sequence[j + 1] if j + 1 < size else 0
                    old = dist[before, sequence[i]] + dist[sequence[j], after]
                    if dist[before, sequence[j]] + dist[sequence[i], after] < old:
                        sequence[i : j + 1] = sequence[i : j + 1][::-1].copy()
                        is_moving = True
    return sequence[:size].copy()


def run(env_data, state, calc_makespan_fn):
    """Construct by the bare values, then again and again with noise; the shortest solution."""
    dist, demands = env_data["dist_matrix"], env_data["demands"]
    n, capacity, budget = env_data["num_nodes"], env_data["capacity"], env_data["budget"]
    near = np.argsort(dist, axis=1, kind="stable")[:, : NEAREST + 2].astype(np.int32)
    pairs, values = np.zeros((2, near.size), np.int32), np.zeros(near.size)
    size = rated_pairs(dist, demands, capacity, near, pairs, values)
    keep = np.flatnonzero(values[:size] >= 0.0)
    pairs, values = np.ascontiguousarray(pairs[:, keep]), values[keep]
    links, route, load = np.zeros((n, 2), np.int32), np.zeros(n, np.int32), np.zeros(n, np.int64)
    best, best_score, order = None, 0.0, np.argsort(-values, kind="stable")
    while best is None or not budget.exhausted():
        join(pairs, order, demands, capacity, links, route, load)
        state.sequence = routes(links, dist)
        score = calc_makespan_fn(state)
        if best is None or score < best_score:
            best, best_score = state.copy(), score
        noise = NOISE * env_data["rng"].standard_normal(values.size)
        order = np.argsort(-values * (1.0 + noise), kind="stable")
    return best
