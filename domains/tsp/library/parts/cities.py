"""Tours with what is near their cities, and tours that go from each city to a near one."""

import numpy as np
from parts.routing.near_nodes import nearest_nodes
from parts.taker import next_city


def near_cities(env_data, neighbours):
    """Distances, int32, and at most `neighbours` nearest cities of each."""
    dist = np.array(env_data["distance_matrix"], dtype=np.int32)
    return dist, nearest_nodes(dist, 0, min(neighbours, len(dist) - 1))


def read_tour(env_data, state, neighbours):
    """Distances, int32; at most `neighbours` nearest cities of each; the tour and the cities' positions."""
    dist, near = env_data["prepared"](near_cities, neighbours)
    tour = np.array(state.sequence, dtype=np.int32)
    pos = np.empty(tour.size, dtype=np.int32)
    pos[tour] = np.arange(tour.size, dtype=np.int32)
    return dist, near, tour, pos


def length_of(tour, dist):
    """Length of a closed tour."""
    return int(dist[tour, np.roll(tour, -1)].sum(dtype=np.int64))


def tour_from(start, dist, rng):
    n = len(dist)
    is_open = np.ones(n, dtype=bool)
    tour = np.empty(n, dtype=np.int32)
    city, length = start, 0
    for i in range(n):
        if i:
            following = next_city(dist[city], is_open, rng)
            length += int(dist[city, following])
            city = following
        tour[i] = city
        is_open[city] = False
    return tour, length + int(dist[city, start])


def shortest_of(env_data, state, starts):
    """Give `state` the shortest of the tours from `starts` for which the share of the budget lasts."""
    dist, rng, budget = env_data["distance_matrix"], env_data["rng"], env_data["budget"]
    best, best_length = None, 0
    for start in starts:
        tour, length = tour_from(int(start), dist, rng)
        budget.charge(1)
        if best is None or length < best_length:
            best, best_length = tour, length
        if budget.exhausted():
            break
    state.sequence = best
    return state
