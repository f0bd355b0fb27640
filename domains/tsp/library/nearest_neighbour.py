"""Nearest neighbour: always go on to the nearest city not yet visited, from several random starts.

Source: J. G. Skellam / G. Gutin, A. Punnen (eds.), The Traveling Salesman Problem and Its Variations (2002),
chapter 9. Complexity: O(STARTS n^2). Work units: one per start.
"""

import numpy as np
from parts.cities import tour_from

STARTS = 5  # tunable: int 1..30


# exchangeable: next-city
def next_city(distances, is_open, rng):
    """Index of the open city to visit next, given the distances from the current one."""
    return int(np.argmin(np.where(is_open, distances, np.iinfo(np.int64).max)))


def run(env_data, state, calc_makespan_fn):
    dist, rng, budget = env_data["distance_matrix"], env_data["rng"], env_data["budget"]
    n = env_data["num_nodes"]
    best, best_length = None, 0
    for start in rng.permutation(n)[:STARTS]:
        tour, length = tour_from(int(start), dist, rng)
        budget.charge(1)
        if best is None or length < best_length:
            best, best_length = tour, length
        if budget.exhausted():
            break
    state.sequence = best
    return state
