"""Random operations with annealing: longer schedules may stay, the less the more time is over.

A few operations leave the schedule and return one by one, each to the machine and the place where the longest
path through it is shortest. The temperature falls from HOT to COLD, in shares of the makespan.
Method: large neighbourhood search.
Source: P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems"
(1998); G. Schrimpf and others, "Record breaking optimization results using the ruin and recreate principle"
(2000).
Complexity: O(REMOVED N) per round for N operations. Work units: one per operation inserted and one per round.
"""

import numpy as np
from numba import njit
from parts.operation_rounds import search_by_operations
from parts.plain_operations import choose_operations as choose_operations
from parts.plain_operations import insertion_key as insertion_key

REMOVED = 4  # tunable: int 1..20
HOT = 0.01  # tunable: float 0.001..0.1
COLD = 0.0005  # tunable: float 0.00005..0.005


# exchangeable: acceptance
@njit(cache=True)
def longest_kept(makespan, progress, rng):
    """Makespan up to which a new schedule replaces one of `makespan`; progress: 0 to 1."""
    return makespan * (1.0 - HOT * (COLD / HOT) ** progress * np.log(1.0 - rng.random()))


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    return search_by_operations(env_data, state, REMOVED)
