"""Nearest neighbour: always go on to the nearest city not yet visited, from several random starts.

Source: J. G. Skellam / G. Gutin, A. Punnen (eds.), The Traveling Salesman Problem and Its Variations (2002),
chapter 9. Complexity: O(STARTS n^2). Work units: one per start.
"""

import numpy as np
from parts.cities import shortest_of

STARTS = 5  # tunable: int 1..30


# exchangeable: next-city
def next_city(distances, is_open, rng):
    """Index of the open city to visit next, given the distances from the current one."""
    return int(np.argmin(np.where(is_open, distances, np.iinfo(np.int64).max)))


def run(env_data, state, calc_makespan_fn):
    """Give `state` the shortest tour from at most STARTS different cities."""
    starts = env_data["rng"].permutation(env_data["num_nodes"])[:STARTS]
    return shortest_of(env_data, state, starts)
