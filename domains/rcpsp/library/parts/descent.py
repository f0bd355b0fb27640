"""Descents that go through the places of a list.

The file brings the neighbourhood, ``improve_place``.
"""

from numba import njit
from parts.project import open_search
from parts.serial_schedules import extend
from parts.taker import improve_place

REACH = 20  # tunable: int 1..500
SIDEWAYS = 0.1  # tunable: float 0.0..1.0
PASSES = 3  # tunable: int 1..100
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


def descend_in_passes(env_data, state, calc_makespan_fn):
    """Descend from `state` until PASSES passes over the list in a row bring no gain."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, tails, target, free, _work, order, finish = open_search(env_data, state)
    n = order.size
    makespan = int(calc_makespan_fn(state))
    places = max(1, CHUNK_ACTIVITIES // (REACH * n))
    idle, before_pass, place = 0, makespan, n
    while makespan > target:
        if place >= n - 1:
            idle = 0 if makespan < before_pass else idle + 1
            if idle > PASSES:
                break
            before_pass, place = makespan, 0
            free[:] = project[2][:, None]
        if budget.exhausted():
            break
        makespan, tried = descend(
            place, places, makespan, (REACH, SIDEWAYS), order, project, before, after, tails, free, finish,
            rng,
        )  # fmt: skip
        budget.charge(tried)
        place += places
    state.sequence = order
    return state
