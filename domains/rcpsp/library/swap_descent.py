"""Descent by pairwise interchange: two activities change places as long as the schedule gets shorter.

Method: place by place, the activity there is exchanged with later ones at most REACH places away, where
precedence allows it. The schedule of the earlier places is kept, only the rest of the list is scheduled
again, and an attempt ends as soon as it cannot get shorter. Exchanges that lead to a schedule of the same
length are made now and then, since there are many.

Source: S. E. Sampson, E. N. Weiss, Local search techniques for the generalized resource constrained project
scheduling problem, 1993; R. Kolisch, S. Hartmann, Heuristic algorithms for the resource-constrained project
scheduling problem, 1999.

Complexity: O(N REACH) lists per pass for N activities, on average half of each list is scheduled anew.
"""

from numba import njit
from parts.descent import descend_in_passes
from parts.partial_schedules import try_tail
from parts.sequences.precedence import free_range


@njit(cache=True)
def improve_place(place, makespan, setting, order, project, before, after, tails, free, finish, rng):
    """Try all exchanges of `place` with later places; makes those that help. The new makespan and the number
    of lists tried.
    """
    reach, sideways = setting
    tried = 0
    for j in range(place + 1, min(place + reach, order.size - 1) + 1):
        if free_range(order, place, j - place, before, after)[1] < j:
            break
        if free_range(order, j, j - place, before, after)[0] > place:
            continue
        limit = makespan if rng.random() < sideways else makespan - 1
        order[place], order[j] = order[j], order[place]
        value = try_tail(order, place, limit, project, before, tails, free, finish)
        tried += 1
        if value > limit:
            order[place], order[j] = order[j], order[place]
        else:
            makespan = value
    return makespan, tried


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` until PASSES passes over the list in a row bring no gain."""
    return descend_in_passes(env_data, state, calc_makespan_fn)
