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
def sweep(tour, pos, dist, near, awake):
    """Try each city whose don't-look bit is off once; returns the number of moves."""
    moves = 0
    for city in range(tour.size):
        if awake[city]:
            if improve_by_reversal(city, tour, pos, dist, near, awake) > 0:
                moves += 1
            else:
                awake[city] = 0
    return moves


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum or until the share of the budget is spent."""
    return descend_by_sweeps(env_data, state, NEIGHBOURS)
