"""Ruin and recreate on activity lists.

The file brings ``disturb``, which changes the list.
"""

import math

import numpy as np
from numba import njit
from parts.project import open_search
from parts.serial_schedules import evaluate, serial
from parts.taker import disturb

MOVED = 3  # tunable: int 1..50
REACH = 0.25  # tunable: float 0.01..1.0
START_TEMPERATURE = 0.01  # tunable: float 0.0001..0.2
END_TEMPERATURE = 0.002  # tunable: float 0.0001..0.1
CYCLES = 3  # tunable: int 1..100
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


def ruin_and_recreate(env_data, state):
    """Search from `state` until the share of the budget is spent or a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, _tails, target, free, work, current, finish = open_search(env_data, state)
    n = current.size
    makespan = serial(current, project, before, free, finish)
    lists = (current, current.copy(), current.copy(), finish)
    status = np.array([makespan, makespan], np.int64)
    shares = np.asarray(env_data["requests"]) / np.maximum(env_data["capacities"], 1)
    reach = max(2, int(REACH * n))
    rounds = made = max(5, CHUNK_ACTIVITIES // (3 * n))
    while made == rounds and not budget.exhausted():
        heat = (START_TEMPERATURE / END_TEMPERATURE) ** (budget.remaining() * CYCLES % 1.0)
        temperature = makespan * END_TEMPERATURE * heat
        made = search(
            rounds, MOVED, reach, temperature, target, project, before, after, shares, free, work, lists,
            status, rng,
        )  # fmt: skip
        budget.charge(3 * made)
    state.sequence = lists[2]
    return state
