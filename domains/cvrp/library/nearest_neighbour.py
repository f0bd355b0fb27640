"""Nearest neighbour: go to the nearest customer that still fits; if there is none, start a new route.

Method: sequential construction by proximity.
Source: D. J. Rosenkrantz, R. E. Stearns, P. M. Lewis, "An analysis of several heuristics for the traveling
salesman problem" (1977), with a capacity as in M. M. Solomon (1987).
Complexity: O(STARTS n^2). Work units: one per start.
"""

import numpy as np
from parts.customers import build_routes

STARTS = 1  # tunable: int 1..30


# exchangeable: next-customer
def next_customer(distances, candidates, rng):
    """The candidate to visit next, given the distances from the current node to all nodes."""
    return int(candidates[np.argmin(distances[candidates])])


def run(env_data, state, calc_makespan_fn):
    """Give `state` the shortest of at most STARTS solutions."""
    return build_routes(env_data, state, STARTS)
