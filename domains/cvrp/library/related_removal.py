"""Related removals: a random customer and some of its nearest leave their routes and return one by one.

Each returns to the place beside one of its NEAR near customers that adds least to the length. The new routes
stay if they are no longer than the old ones.
Method: large neighbourhood search.
Source: P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems"
(1998).
Complexity: O(REMOVED NEAR) per round, whatever the number of customers. Work units: one per round.
"""

from numba import njit
from parts.plain_removals import accepts as accepts
from parts.removal_rounds import search_by_removals

NEAR = 20  # tunable: int 5..60
REMOVED = 8  # tunable: int 2..40


# exchangeable: customers-to-remove
@njit(cache=True)
def choose_customers(chosen, n, near, rng):
    """Write a random customer and some of its nearest into `chosen`, every second one; returns how many."""
    chosen[0] = centre = 1 + int(rng.random() * (n - 1))
    count = 1
    for i in range(near.shape[1]):
        if count < chosen.size and rng.random() < 0.5:
            chosen[count] = near[centre, i]
            count += 1
    return count


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    return search_by_removals(env_data, state, NEAR, REMOVED)
