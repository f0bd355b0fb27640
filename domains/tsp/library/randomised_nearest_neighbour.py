"""Randomised nearest neighbour: go on to one of the few nearest open cities, from several random starts.

The choice among the CANDIDATES nearest falls off geometrically, as in GRASP constructions.
Source: T. A. Feo, M. G. C. Resende, "Greedy randomized adaptive search procedures" (1995).
Complexity: O(STARTS n^2). Work units: one per start.
"""

import numpy as np
from parts.cities import shortest_of

STARTS = 10  # tunable: int 1..50
CANDIDATES = 3  # tunable: int 1..8
GREED = 0.85  # tunable: float 0.3..1.0


# exchangeable: next-city
def next_city(distances, is_open, rng):
    """Index of the open city to visit next, given the distances from the current one."""
    open_cities = np.flatnonzero(is_open)
    few = min(CANDIDATES, len(open_cities))
    away = distances[open_cities]
    nearest = np.argpartition(away, few - 1)[:few]
    order = open_cities[nearest[np.argsort(away[nearest], kind="stable")]]
    place = 0
    while place < few - 1 and rng.random() > GREED:
        place += 1
    return int(order[place])


def run(env_data, state, calc_makespan_fn):
    """Give `state` the shortest of at most STARTS tours from random cities."""
    rng, n = env_data["rng"], env_data["num_nodes"]
    return shortest_of(env_data, state, (rng.integers(n) for _ in range(STARTS)))
