"""Random operations: a few operations leave the schedule and return one by one at their best places.

Each returns to the machine and the place where the longest path through it is shortest. The new schedule
stays if it is no longer than the old one.
Method: large neighbourhood search.
Source: P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems"
(1998).
Complexity: O(REMOVED N) per round for N operations. Work units: one per operation inserted and one per round.
"""

from parts.operation_rounds import search_by_operations
from parts.plain_operations import choose_operations as choose_operations
from parts.plain_operations import insertion_key as insertion_key
from parts.plain_operations import longest_kept as longest_kept

REMOVED = 4  # tunable: int 1..20


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    return search_by_operations(env_data, state, REMOVED)
