"""Route first, cluster second: one giant tour through all customers, cut into routes at least cost.

Giant tours come from randomised nearest neighbour and a 2-opt descent with neighbour lists; the cut is the
shortest path over all feasible routes of consecutive customers. The best of TOURS tours is kept.
Method: giant tour and optimal split.
Source: J. E. Beasley, "Route first - cluster second methods for vehicle routing" (1983); C. Prins, "A simple
and effective evolutionary algorithm for the vehicle routing problem" (2004).
Complexity: O(n^2) per tour. Work units: one per tour.
"""

import numpy as np
from numba import njit
from parts.routes import take_shortest

TOURS = 20  # tunable: int 1..100
CHOICES = 3  # tunable: int 1..6
SWEEPS = 8  # tunable: int 0..30


@njit(cache=True)
def giant_tour(dist, start, choices, rng):
    """Customers in the order of a randomised nearest neighbour walk from `start`."""
    n = dist.shape[0]
    tour = np.empty(n - 1, np.int32)
    is_open = np.ones(n, np.uint8)
    nearest = np.empty(choices, np.int64)
    node = start
    for i in range(n - 1):
        tour[i] = node
        is_open[node] = 0
        found = 0
        for other in range(1, n):
            if is_open[other] and (found < choices or dist[node, other] < dist[node, nearest[found - 1]]):
                found = min(found + 1, choices)
                slot = found - 1
                while slot > 0 and dist[node, nearest[slot - 1]] > dist[node, other]:
                    nearest[slot] = nearest[slot - 1]
                    slot -= 1
                nearest[slot] = other
        if found > 0:
            rank = 0
            while rank + 1 < found and rng.random() < 0.2:
                rank += 1
            node = nearest[rank]
    return tour


@njit(cache=True)
def sweep_two_opt(tour, dist):
    """One sweep of 2-opt over the tour, its ends tied to nothing; returns the moves made."""
    moves = 0
    for i in range(1, tour.size - 1):
        for j in range(i + 1, tour.size - 1):
            a, b, c, d = tour[i - 1], tour[i], tour[j], tour[j + 1]
            if dist[a, c] + dist[b, d] < dist[a, b] + dist[c, d]:
                tour[i : j + 1] = tour[i : j + 1][::-1].copy()
                moves += 1
    return moves


# exchangeable: split
@njit(cache=True)
def split_giant_tour(tour, dist, demands, capacity):
    """Feasible routes of least total length that keep the order of the tour: a sequence and the length."""
    size = tour.size
    cost, cut = np.full(size + 1, 1 << 60), np.zeros(size + 1, np.int64)
    cost[0] = 0
    for i in range(size):
        load, length = 0, 0
        for j in range(i, size):
            node = tour[j]
            load += demands[node]
            if load > capacity:
                break
            length += dist[0, node] if j == i else dist[tour[j - 1], node]
            if cost[i] + length + dist[node, 0] < cost[j + 1]:
                cost[j + 1], cut[j + 1] = cost[i] + length + dist[node, 0], i
    is_start = np.zeros(size + 1, np.uint8)
    stop = size
    while stop > 0:
        stop = cut[stop]
        is_start[stop] = 1
    sequence, written = np.empty(2 * size, np.int32), 0
    for i in range(size):
        if i > 0 and is_start[i]:
            sequence[written] = 0
            written += 1
        sequence[written] = tour[i]
        written += 1
    return sequence[:written].copy(), cost[size]


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    dist = np.array(env_data["dist_matrix"], dtype=np.int32)
    demands = np.array(env_data["demands"], dtype=np.int64)

    def solutions():
        for _ in range(TOURS):
            tour = giant_tour(dist, int(rng.integers(1, n)), CHOICES, rng)
            for _ in range(SWEEPS):
                if budget.exhausted() or sweep_two_opt(tour, dist) == 0:
                    break
            yield split_giant_tour(tour, dist, demands, env_data["capacity"])

    return take_shortest(env_data, state, solutions())
