"""Waking at the cuts: a double bridge with cuts anywhere on the tour, and 2-opt from the cities at its edges.

The new tour stays if it is no longer than the old one. With SEGMENT above 0 the descent moves segments of up
to so many cities as well.
Method: iterated local search.
Source: H. R. Lourenco, O. C. Martin, T. Stutzle, "Iterated local search" (2003); J. L. Bentley, "Fast
algorithms for geometric traveling salesman problems" (1992), for what need not be looked at again.
Complexity: O(n k) per round. Work units: one per move, one per sweep and one per round.
"""

from numba import njit
from parts.kick_rounds import search_by_kicks
from parts.plain_kicks import draw_cuts as draw_cuts
from parts.plain_kicks import improve_city as improve_city
from parts.plain_kicks import longest_kept as longest_kept

NEIGHBOURS = 10  # tunable: int 5..20
SEGMENT = 0  # tunable: int 0..10


# exchangeable: cities-to-search
@njit(cache=True)
def wake(awake, tour, joints):
    """Mark the cities from which a kicked tour is searched; joints: positions behind its new edges."""
    for i in range(joints.size):
        awake[tour[joints[i]]] = awake[tour[joints[i] - 1]] = 1


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    return search_by_kicks(env_data, state, NEIGHBOURS)
