"""Descents that go through the places of a list.

The file brings the neighbourhood, ``improve_place``.
"""

import numpy as np
from numba import njit
from parts.partial_schedules import extend
from parts.project import set_up
from parts.taker import improve_place

CHUNK_ACTIVITIES = 30_000  # activities scheduled by one kernel call, roughly


@njit(cache=True)
def descend(place, places, makespan, setting, order, project, before, after, tails, free, finish, rng):
    """Improve at `places` places from `place` on, before which all is scheduled; the new makespan and the
    number of lists tried.
    """
    tried = 0
    for i in range(place, min(place + places, order.size - 1)):
        makespan, more = improve_place(
            i, makespan, setting, order, project, before, after, tails, free, finish, rng
        )
        tried += more
        extend(order, i, i + 1, makespan, project, before, tails, free, finish)
    return makespan, tried


def descend_in_passes(env_data, state, calc_makespan_fn, reach, sideways, patience):
    """Descend from `state` until `patience` passes over the list in a row bring no gain."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, tails, target, free = set_up(env_data)
    n = project[0].size
    order, finish = np.array(state.sequence, dtype=np.int32), np.empty(n, np.int64)
    makespan = int(calc_makespan_fn(state))
    places = max(1, CHUNK_ACTIVITIES // (reach * n))
    idle, before_pass, place = 0, makespan, n
    while makespan > target:
        if place >= n - 1:
            idle = 0 if makespan < before_pass else idle + 1
            if idle > patience:
                break
            before_pass, place = makespan, 0
            free[:] = project[2][:, None]
        if budget.exhausted():
            break
        makespan, tried = descend(
            place, places, makespan, (reach, sideways), order, project, before, after, tails, free, finish,
            rng,
        )  # fmt: skip
        budget.charge(tried)
        place += places
    state.sequence = order
    return state
