"""Or-2opt: reversals and segment moves in one descent, down to a local optimum of both.

Each city whose don't-look bit is off is tried for a 2-opt move and, where none helps, for moving a segment
that ends in it. Stops at a local optimum of both neighbourhoods.
Source: J. L. Bentley, "Fast algorithms for geometric traveling salesman problems" (1992), for the combination
of 2-opt with I. Or's segment moves (1976).
Complexity: O(n k SEGMENT) per sweep, O(n) per move at worst. Work units: one per move and one per sweep.
"""

from numba import njit
from parts.sweeps import descend_by_sweeps
from parts.tour_arrays import improve_by_reversal, improve_by_segment_move

NEIGHBOURS = 12  # tunable: int 5..20
SEGMENT = 3  # tunable: int 1..10


@njit(cache=True)
def improve_city(city, tour, pos, dist, near, awake):
    """Make a 2-opt move at `city` or, where none helps, move a segment that ends in it; the gain or 0."""
    gain = improve_by_reversal(city, tour, pos, dist, near, awake)
    return gain if gain > 0 else improve_by_segment_move(city, tour, pos, dist, near, awake)


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum or until the share of the budget is spent."""
    return descend_by_sweeps(env_data, state, NEIGHBOURS)
