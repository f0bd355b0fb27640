"""Random removals: customers drawn at random leave their routes and return one by one.

Each returns to the place beside one of its NEAR near customers that adds least to the length. The new routes
stay if they are no longer than the old ones.
Method: large neighbourhood search.
Source: P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems"
(1998).
Complexity: O(REMOVED NEAR) per round, whatever the number of customers. Work units: one per round.
"""

from parts.plain_removals import accepts as accepts
from parts.plain_removals import choose_customers as choose_customers
from parts.removal_rounds import search_by_removals

NEAR = 20  # tunable: int 5..60
REMOVED = 8  # tunable: int 2..40


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    return search_by_removals(env_data, state, NEAR, REMOVED)
