"""2-opt with neighbour lists and don't-look bits: replace two edges by two shorter ones until none can be.

A reversal turns the shorter side of the tour. Stops at a local optimum.
Source: G. A. Croes, "A method for solving traveling-salesman problems" (1958); J. L. Bentley, "Fast
algorithms for geometric traveling salesman problems" (1992). Complexity: O(n k) per sweep, O(n) per move at
worst. Work units: one per move and one per sweep.
"""

from numba import njit
from parts.sweeps import descend_by_sweeps
from parts.tour_arrays import improve_by_reversal

NEIGHBOURS = 12  # tunable: int 5..20


@njit(cache=True)
def improve_city(city, tour, pos, dist, near, awake):
    """Make a 2-opt move at `city` if that shortens the tour; returns the gain or 0."""
    return improve_by_reversal(city, tour, pos, dist, near, awake)


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum or until the share of the budget is spent."""
    return descend_by_sweeps(env_data, state, NEIGHBOURS)
