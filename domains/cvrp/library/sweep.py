"""Sweep: fill routes in the order of the customers' angles round the depot, from many starting angles.

Each route is then put together by cheapest insertion. Angles come from points on the plane that reproduce the
edge lengths, so that coordinates are not needed.
Method: cluster first, route second.
Source: B. E. Gillett, L. R. Miller, "A heuristic algorithm for the vehicle-dispatch problem" (1974).
Complexity: O(STARTS n m), m: customers on a route. Work units: one per start.
"""

import numpy as np
from numba import njit
from parts.customers import planar_points
from parts.routes import take_shortest

STARTS = 60  # tunable: int 1..200


@njit(cache=True)
def sweep_from(order, start, dist, demands, capacity):
    """Routes from position `start` of the cyclic `order` on, as a sequence, and their length."""
    n = dist.shape[0]
    sequence = np.empty(2 * n, np.int32)
    size, first, free, length = 0, 0, 0, 0
    for i in range(n - 1):
        node = order[(start + i) % (n - 1)]
        if demands[node] > free or size == first:
            if size > 0:
                sequence[size] = 0
                size += 1
            first, free = size, capacity
        best, gap = 1 << 60, first
        for q in range(first, size + 1):
            left = sequence[q - 1] if q > first else 0
            right = sequence[q] if q < size else 0
            growth = dist[left, node] + dist[node, right] - dist[left, right]
            if growth < best:
                best, gap = growth, q
        for q in range(size, gap, -1):
            sequence[q] = sequence[q - 1]
        sequence[gap] = node
        size += 1
        free -= demands[node]
        length += best
    return sequence[:size].copy(), length


def run(env_data, state, calc_makespan_fn):
    n, capacity = env_data["num_nodes"], env_data["capacity"]
    dist = np.array(env_data["dist_matrix"], dtype=np.int32)
    demands = np.array(env_data["demands"], dtype=np.int64)
    points = planar_points(dist)[1:]
    order = 1 + np.argsort(np.arctan2(points[:, 1], points[:, 0]), kind="stable")
    starts = env_data["rng"].permutation(n - 1)[:STARTS]
    solutions = (sweep_from(order, int(start), dist, demands, capacity) for start in starts)
    return take_shortest(env_data, state, solutions)
