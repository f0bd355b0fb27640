"""Edge weighting on the complementary vertex cover, with two-stage exchange and forgetting (NuMVC).

Method: the vertices outside a set form a cover when every edge has one. The search removes a vertex from
each cover it finds and looks for a cover of that smaller size: it takes the cheapest vertex out, and puts in
an end of a random uncovered edge whose surroundings have changed since it left. Edges that stay uncovered
gain weight; when the mean weight exceeds FORGET_ABOVE times the number of vertices, all weights shrink.

Source: S. Cai, K. Su, C. Luo, A. Sattar, NuMVC: an efficient local search algorithm for minimum vertex cover,
2013.

Complexity: O(n + degree) per exchange. Work units: one per exchange.
"""

import numpy as np
from parts.cover_search import continue_cover, open_cover


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    stream = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
    search = open_cover(np.array(env_data["adj"], dtype=np.uint8), state.sequence, stream)
    goes_on = True
    while goes_on and not budget.exhausted():
        state.sequence, goes_on = continue_cover(search, budget)
    return state
