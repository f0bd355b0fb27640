"""Schedules of the last part of a list, tried and taken back."""

from numba import njit
from parts.serial_schedules import extend


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
