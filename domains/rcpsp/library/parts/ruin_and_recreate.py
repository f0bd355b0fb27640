"""Ruin and recreate on activity lists.

The file brings ``disturb``, which changes the list.
"""

import math

import numpy as np
from numba import njit
from parts.project import set_up
from parts.serial_schedules import evaluate, serial
from parts.taker import disturb

CHUNK_ACTIVITIES = 60_000  # activities scheduled by one kernel call


# exchangeable: acceptance
@njit(cache=True)
def accepts(loss, temperature, draw):
    """Whether a schedule longer by `loss` replaces the present one; `draw` is uniform on [0, 1)."""
    return loss <= 0 or draw < math.exp(-loss / temperature)


@njit(cache=True)
def search(
    rounds, count, reach, temperature, target, project, before, after, shares, free, work, lists, status, rng
):
    """At most `rounds` rounds; `status` holds the best and the present makespan. The number of rounds made:
    fewer when `target` is met.
    """
    current, order, best, finish = lists
    for made in range(rounds):
        if status[0] <= target:
            return made
        order[:] = current
        disturb(order, count, reach, before, after, shares, rng)
        makespan = evaluate(order, finish, project, before, after, free, work)
        loss = makespan - status[1]
        if accepts(loss, temperature, rng.random()):
            status[1] = makespan
            current[:] = order
            if makespan < status[0]:
                status[0] = makespan
                best[:] = order
    return rounds


def ruin_and_recreate(env_data, state, moved, share, start_temperature, end_temperature, cycles):
    """Search from `state` until the share of the budget is spent or a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, _tails, target, free = set_up(env_data)
    n = project[0].size
    work = (np.empty(free.shape[1], np.int64), np.empty(n, np.int32), np.empty(n, np.int64))
    current = np.array(state.sequence, dtype=np.int32)
    finish = np.empty(n, np.int64)
    makespan = serial(current, project, before, free, finish)
    lists = (current, current.copy(), current.copy(), finish)
    status = np.array([makespan, makespan], np.int64)
    shares = np.asarray(env_data["requests"]) / np.maximum(env_data["capacities"], 1)
    reach = max(2, int(share * n))
    rounds = made = max(5, CHUNK_ACTIVITIES // (3 * n))
    while made == rounds and not budget.exhausted():
        heat = (start_temperature / end_temperature) ** (budget.remaining() * cycles % 1.0)
        temperature = makespan * end_temperature * heat
        made = search(
            rounds, moved, reach, temperature, target, project, before, after, shares, free, work, lists,
            status, rng,
        )  # fmt: skip
        budget.charge(3 * made)
    state.sequence = lists[2]
    return state
