"""Long edges that were seldom penalised: length over one plus penalty."""

from numba import njit


@njit(cache=True)
def guide(length, penalty, mean_length, nearest):
    """Return how much an edge of a local optimum should be penalised; that of the largest value is.

    All arguments are floats. length: of the edge; penalty: how often it was penalised; mean_length: of the
    tour's edges; nearest: the longer of the distances from its two ends to their nearest cities.
    """
    return length / (1.0 + penalty)


# ---- Skeleton: everything below stays as it is. ----

"""Guided local search: 2-opt with neighbour lists on lengths to which penalties are added; in each local
optimum the edge that the guide function rates highest is penalised, and its ends are looked at again.

Source: C. Voudouris, E. Tsang, Guided local search and its application to the traveling salesman problem,
1999.
"""

import numpy as np
from numba import njit

NEIGHBOURS = 10
WEIGHT = 0.3
ROUNDS = 50


@njit(cache=True)
def nearest_neighbour_tour(dist, tour):
    n = tour.size
    seen = np.zeros(n, np.uint8)
    city = 0
    for i in range(n):
        tour[i] = city
        seen[city] = 1
        following = -1
        for other in range(n):
            if not seen[other] and (following < 0 or dist[city, other] < dist[city, following]):
                following = other
        city = following


@njit(cache=True)
def reverse(tour, pos, i, j):
    n = tour.size
    for _ in range(((j - i) % n + 1) // 2):
        tour[i], tour[j] = tour[j], tour[i]
        pos[tour[i]], pos[tour[j]] = i, j
        i, j = (i + 1) % n, (j - 1) % n


@njit(cache=True)
def improve_city(a, tour, pos, dist, penalties, near, weight):
    """Make the first 2-opt move at city a that shortens the penalised tour; return its other three cities."""
    n = tour.size
    for way in (1, -1):
        b = tour[(pos[a] + way) % n]
        present = dist[a, b] + weight * penalties[a, b]
        for k in range(near.shape[1]):
            c = near[a, k]
            if dist[a, c] >= present:
                break
            d = tour[(pos[c] + way) % n]
            if c == b or d == a:
                continue
            gain = present + dist[c, d] + weight * penalties[c, d]
            gain -= dist[a, c] + weight * penalties[a, c] + dist[b, d] + weight * penalties[b, d]
            if gain > 1e-7:
                i, j = (pos[b], pos[c]) if way == 1 else (pos[c], pos[b])
                if 2 * ((j - i) % n) > n:
                    i, j = (j + 1) % n, (i - 1) % n
                reverse(tour, pos, i, j)
                return b, c, d
    return -1, -1, -1


@njit(cache=True)
def search(tour, pos, dist, penalties, near, awake, weight, best, best_length, n_rounds):
    """Descend and penalise `n_rounds` times; `best` is kept up to date. Return its length and the moves."""
    n, moves = tour.size, 0
    for _ in range(n_rounds):
        is_moving = True
        while is_moving:
            is_moving = False
            for city in range(n):
                if awake[city]:
                    b, c, d = improve_city(city, tour, pos, dist, penalties, near, weight)
                    if b < 0:
                        awake[city] = 0
                    else:
                        awake[b] = awake[c] = awake[d] = 1
                        moves += 1
                        is_moving = True
        length = 0
        for i in range(n):
            length += dist[tour[i - 1], tour[i]]
        if length < best_length:
            best_length = length
            best[:] = tour
        chosen, value = 0, -np.inf
        for i in range(n):
            a, b = tour[i - 1], tour[i]
            nearest = float(max(dist[a, near[a, 0]], dist[b, near[b, 0]]))
            rated = float(guide(float(dist[a, b]), float(penalties[a, b]), length / n, nearest))
            if rated > value:
                chosen, value = i, rated
        a, b = tour[chosen - 1], tour[chosen]
        penalties[a, b] += 1
        penalties[b, a] += 1
        awake[a] = awake[b] = 1
    return best_length, moves


def run(env_data, state, calc_makespan_fn):
    """Search from the nearest-neighbour tour until the budget is exhausted; the shortest tour."""
    dist = np.ascontiguousarray(env_data["distance_matrix"])
    n, budget = env_data["num_nodes"], env_data["budget"]
    tour = np.zeros(n, np.int32)
    nearest_neighbour_tour(dist, tour)
    state.sequence = tour
    if n < 5:
        return state
    others = dist + np.diag(np.full(n, dist.max() + 1))
    near = np.argsort(others, axis=1, kind="stable")[:, : min(NEIGHBOURS, n - 1)].astype(np.int32)
    pos, penalties = np.argsort(tour).astype(np.int32), np.zeros((n, n), np.int32)
    awake, best, best_length = np.ones(n, np.uint8), tour.copy(), int(calc_makespan_fn(state))
    weight = WEIGHT * best_length / n
    while not budget.exhausted():
        best_length, moves = search(
            tour, pos, dist, penalties, near, awake, weight, best, best_length, ROUNDS
        )
        budget.charge(moves + ROUNDS)
    state.sequence = best
    return state
