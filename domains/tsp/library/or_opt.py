"""Or-opt: move a segment of up to SEGMENT cities, forwards or reversed, next to a city near one of its ends.

Uses neighbour lists and don't-look bits; stops at a local optimum.
Source: I. Or, "Traveling salesman-type combinatorial problems and their relation to the logistics of regional
blood banking", PhD thesis, Northwestern University (1976).
Complexity: O(n k SEGMENT) per sweep, O(n) per move at worst. Work units: one per move and one per sweep.
"""

from parts.segment_moves import improve_city as improve_city
from parts.sweeps import descend_by_sweeps
from parts.tour_arrays import improve_by_segment_move as improve_by_segment_move

NEIGHBOURS = 10  # tunable: int 5..20
SEGMENT = 3  # tunable: int 1..10


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum or until the share of the budget is spent."""
    return descend_by_sweeps(env_data, state, NEIGHBOURS)
