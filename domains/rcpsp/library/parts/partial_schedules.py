"""Schedules of the first part of a list, extended and taken back."""

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
def withdraw(order, place, stop, project, free, finish):
    """Give back what the activities at places `place`..`stop` - 1 hold of the resources."""
    durations, need, _capacity, guard = project
    for i in range(place, stop):
        x = order[i]
        for w in range(guard.size):
            for t in range(finish[x] - durations[x], finish[x]):
                free[w, t] += need[x, w]


@njit(cache=True)
def try_tail(order, place, limit, project, before, tails, free, finish):
    """Makespan of `order`, whose places before `place` are scheduled, or `limit` + 1 if it is longer."""
    reached = extend(order, place, order.size, limit, project, before, tails, free, finish)
    withdraw(order, place, reached, project, free, finish)
    return finish[order[order.size - 1]] if reached == order.size else limit + 1
