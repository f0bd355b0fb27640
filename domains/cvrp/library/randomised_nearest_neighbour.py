"""Randomised nearest neighbour: go to one of the nearest customers that still fit; best of many tries.

Method: greedy randomised construction with a candidate list by rank.
Source: T. A. Feo, M. G. C. Resende, "Greedy randomized adaptive search procedures" (1995).
Complexity: O(STARTS n^2). Work units: one per start.
"""

import numpy as np
from parts.customers import build_routes

STARTS = 20  # tunable: int 1..100


# exchangeable: next-customer
def next_customer(distances, candidates, rng):
    """The candidate to visit next, given the distances from the current node to all nodes."""
    choices, greed = 3, 0.7
    nearest = candidates[np.argsort(distances[candidates], kind="stable")[:choices]]
    rank = 0
    while rank + 1 < len(nearest) and rng.random() > greed:
        rank += 1
    return int(nearest[rank])


def run(env_data, state, calc_makespan_fn):
    """Give `state` the shortest of at most STARTS solutions."""
    return build_routes(env_data, state, STARTS)
