"""Ruin and recreate: neighbours in the list are moved at random and the schedule is justified.

Method: a place of the list is drawn; a few activities near it each move to a random place within REACH
between their last predecessor and their first successor. The list is scheduled and justified, and replaces
the present one by Metropolis' rule; over the share of the budget the temperature, relative to the makespan,
falls geometrically, CYCLES times.

Source: G. Schrimpf et al., Record breaking optimization results using the ruin and recreate principle,
2000; V. Valls, F. Ballestín, S. Quintanilla, Justification and RCPSP: a technique that pays, 2005.

Complexity: three schedules per round, each O(N (predecessors + periods searched)) for N activities.
"""

from numba import njit
from parts.ruin_and_recreate import ruin_and_recreate
from parts.sequences.entry_move import move_entry
from parts.sequences.precedence import free_range


@njit(cache=True)
def disturb(order, count, reach, before, after, shares, rng):
    """Move `count` activities from neighbouring places of the list, each to a random place within `reach`."""
    n = order.size
    centre = int(rng.random() * n)
    for _ in range(count):
        place = centre + int((2.0 * rng.random() - 1.0) * reach)
        place = min(max(place, 0), n - 1)
        low, high = free_range(order, place, reach, before, after)
        move_entry(order, place, low + int(rng.random() * (high - low + 1)))


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or a lower bound is met."""
    return ruin_and_recreate(env_data, state)
