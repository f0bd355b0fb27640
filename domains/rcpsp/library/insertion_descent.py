"""Descent by insertions: activities move to other places of the list as long as the schedule gets shorter.

Method: place by place, the activity there moves behind later ones and later ones move before it, as far as
precedence and REACH allow. The schedule of the earlier places is kept, only the rest of the list is
scheduled again, and an attempt ends as soon as it cannot get shorter. Moves that lead to a schedule of the
same length are made now and then, since there are many.

Source: F. F. Boctor, Resource-constrained project scheduling by simulated annealing, 1996 (insertion
moves); R. Kolisch, S. Hartmann, Heuristic algorithms for the resource-constrained project scheduling
problem, 1999.

Complexity: O(N REACH) lists per pass for N activities, on average half of each list is scheduled anew.
"""

from numba import njit
from parts.descent import descend_in_passes
from parts.partial_schedules import try_tail
from parts.sequences.entry_move import move_entry
from parts.sequences.precedence import free_range


@njit(cache=True)
def improve_place(place, makespan, setting, order, project, before, after, tails, free, finish, rng):
    """Try all insertions whose first changed place is `place`; makes those that help. The new makespan and
    the number of lists tried.
    """
    reach, sideways = setting
    tried = 0
    for is_left in range(2):
        last = min(place + reach, order.size - 1)
        if not is_left:
            last = free_range(order, place, reach, before, after)[1]
        for j in range(place + 1, last + 1):
            if is_left and free_range(order, j, j - place, before, after)[0] > place:
                continue
            source, destination = (j, place) if is_left else (place, j)
            limit = makespan if rng.random() < sideways else makespan - 1
            move_entry(order, source, destination)
            value = try_tail(order, place, limit, project, before, tails, free, finish)
            tried += 1
            if value > limit:
                move_entry(order, destination, source)
            else:
                makespan = value
                if not is_left:
                    break
    return makespan, tried


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` until PASSES passes over the list in a row bring no gain."""
    return descend_in_passes(env_data, state, calc_makespan_fn)
