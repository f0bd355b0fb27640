"""Schedules of activity lists by serial generation, and their justification.

:func:`prepare` of the part ``project`` explains the arrays.

Source: R. Kolisch, Serial and parallel resource-constrained project scheduling methods revisited, 1996;
V. Valls, F. Ballestín, S. Quintanilla, Justification and RCPSP: a technique that pays, 2005.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def extend(order, place, stop, limit, project, before, tails, free, finish):
    """Schedule the activities at places `place`..`stop` - 1 of a list whose earlier ones are in `free`.

    Gives up before the first activity that would end, with its tail, after `limit`. Returns the place
    reached; `finish` of the last activity of a whole list is the makespan.
    """
    durations, need, _capacity, guard = project
    first, others = before
    words = guard.size
    for i in range(place, stop):
        x = order[i]
        start = np.int64(0)
        for k in range(first[x], first[x + 1]):
            start = max(start, finish[others[k]])
        w = settled = 0
        while settled < words:  # until the start that one word asks for suits all words
            profile, lanes, t = free[w], guard[w], start
            end = start + durations[x]
            while t < end:
                if ((profile[t] | lanes) - need[x, w]) & lanes != lanes:
                    end = t + 1 + durations[x]
                t += 1
            settled = settled + 1 if end - durations[x] == start else 1
            start = end - durations[x]
            w = w + 1 if w + 1 < words else 0
        if start + tails[x] > limit:
            return i
        finish[x] = start + durations[x]
        for w in range(words):
            for t in range(start, finish[x]):
                free[w, t] -= need[x, w]
    return stop


@njit(cache=True)
def serial_within(limit, order, project, before, tails, free, finish):
    """As `serial`, but gives up with `limit` + 1 as soon as an activity and its tail end after `limit`."""
    for w in range(free.shape[0]):
        free[w] = project[2][w]
    reached = extend(order, 0, order.size, limit, project, before, tails, free, finish)
    return finish[order[order.size - 1]] if reached == order.size else limit + 1


@njit(cache=True)
def serial(order, project, before, free, finish):
    """Serial schedule generation: finish times of all activities of the list `order`; the makespan.

    `before` are the predecessors; with successors instead and a list from the end of the project it
    schedules backwards in time. `free` (resource words by periods) is what is left of the resources.
    """
    return serial_within(np.int64(2**62), order, project, before, project[0], free, finish)


@njit(cache=True)
def turn(order, finish, makespan, bucket, turned):
    """Write the activities by falling finish time into `turned`: the list for the other direction in time.

    Activities that finish together change their order in the list. `bucket` has a place for each period.
    """
    bucket[: makespan + 1] = 0
    for x in order:
        bucket[finish[x]] += 1
    place = 0
    for t in range(makespan, -1, -1):
        place += bucket[t]
        bucket[t] = place - bucket[t]
    for i in range(order.size - 1, -1, -1):
        x = order[i]
        turned[bucket[finish[x]]] = x
        bucket[finish[x]] += 1


@njit(cache=True)
def justify(order, finish, makespan, project, before, after, free, work):
    """Shift all activities of a schedule to the right, then to the left; the new makespan, never longer.

    `order` and `finish` become list and finish times of the new schedule.
    """
    bucket, turned, turned_finish = work
    turn(order, finish, makespan, bucket, turned)
    makespan = serial(turned, project, after, free, turned_finish)
    turn(turned, turned_finish, makespan, bucket, order)
    return serial(order, project, before, free, finish)


@njit(cache=True)
def evaluate(order, finish, project, before, after, free, work):
    """Schedule and justify a list; the makespan."""
    makespan = serial(order, project, before, free, finish)
    return justify(order, finish, makespan, project, before, after, free, work)


@njit(cache=True)
def fingerprint(finish):
    """A number that differs for almost all different schedules."""
    code = np.int64(0)
    for x in range(finish.size):
        code = (code * 1_000_003 + finish[x]) % 2_147_483_647
    return code
