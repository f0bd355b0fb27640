"""Random removals with annealing: longer routes may stay, the less the more time is over.

Customers drawn at random leave their routes; each returns to the place beside one of its NEAR near customers
that adds least to the length. The temperature falls from HOT to COLD times the mean edge length.
Method: large neighbourhood search.
Source: P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems"
(1998); G. Schrimpf and others, "Record breaking optimization results using the ruin and recreate principle"
(2000).
Complexity: O(REMOVED NEAR) per round, whatever the number of customers. Work units: one per round.
"""

import numpy as np
from numba import njit
from parts.plain_removals import choose_customers as choose_customers
from parts.removal_rounds import search_by_removals

NEAR = 20  # tunable: int 5..60
REMOVED = 8  # tunable: int 2..40
HOT = 0.3  # tunable: float 0.02..2.0
COLD = 0.01  # tunable: float 0.001..0.1


# exchangeable: acceptance
@njit(cache=True)
def accepts(change, progress, rng):
    """Whether routes stay whose length differs by `change` mean edges; progress: 0 to 1."""
    return change < -HOT * (COLD / HOT) ** progress * np.log(1.0 - rng.random())


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    return search_by_removals(env_data, state, NEAR, REMOVED)
