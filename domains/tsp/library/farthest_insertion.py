"""Farthest insertion: insert the city farthest from the tour where it lengthens the tour least.

Source: D. J. Rosenkrantz, R. E. Stearns, P. M. Lewis, "An analysis of several heuristics for the traveling
salesman problem" (1977). Complexity: O(n^2). Work units: one per insertion.
"""

import numpy as np

RULE = "farthest"  # tunable: choice farthest nearest random


# exchangeable: next-insertion
def next_insertion(open_cities, gap, rng):
    """Place in `open_cities` of the city to insert next; gap: its distance to the tour, one per open city."""
    if RULE == "farthest":
        return int(np.argmax(gap))
    if RULE == "nearest":
        return int(np.argmin(gap))
    return int(rng.integers(len(gap)))


def run(env_data, state, calc_makespan_fn):
    dist, rng, budget = env_data["distance_matrix"], env_data["rng"], env_data["budget"]
    start = int(rng.integers(env_data["num_nodes"]))
    tour = np.array([start], dtype=np.int64)
    open_cities = np.delete(np.arange(env_data["num_nodes"]), start)
    gap = dist[start, open_cities]
    while len(open_cities) and not budget.exhausted():
        place = next_insertion(open_cities, gap, rng)
        city = open_cities[place]
        open_cities, gap = np.delete(open_cities, place), np.delete(gap, place)
        following = np.roll(tour, -1)
        growth = dist[tour, city] + dist[city, following] - dist[tour, following]
        tour = np.insert(tour, int(np.argmin(growth)) + 1, city)
        gap = np.minimum(gap, dist[city, open_cities])
        budget.charge(1)
    state.sequence = np.concatenate([tour, open_cities]).astype(np.int32)
    return state
