"""Simulated annealing on the list with random insertions.

Method: a random activity moves to a random place between its last predecessor and its first successor in
the list. The length that Metropolis' rule would still accept is drawn beforehand, so that a schedule is
given up as soon as it gets longer. The temperature, relative to the makespan, falls geometrically over the
share of the budget, CYCLES times.

Source: F. F. Boctor, Resource-constrained project scheduling by simulated annealing, 1996; K. Bouleimen, H.
Lecocq, A new efficient simulated annealing algorithm for the resource-constrained project scheduling
problem, 2003.

Complexity: at most one schedule per move, O(N (predecessors + periods searched)) for N activities.
"""

import math

import numpy as np
from numba import njit
from parts.project import open_search
from parts.sequences.entry_move import move_entry
from parts.sequences.precedence import free_range
from parts.serial_schedules import serial_within

START_TEMPERATURE = 0.02  # tunable: float 0.0001..0.5
END_TEMPERATURE = 0.002  # tunable: float 0.0001..0.1
REACH = 0.3  # tunable: float 0.01..1.0
CYCLES = 3  # tunable: int 1..100
CHUNK_ACTIVITIES = 40_000  # moves of one kernel call times activities of the instance


# exchangeable: tolerated-loss
@njit(cache=True)
def tolerated_loss(temperature, draw):
    """Periods by which the schedule may get longer; `draw` is uniform on [0, 1)."""
    return int(-temperature * math.log(1.0 - draw))


@njit(cache=True)
def anneal(
    moves, reach, temperature, target, project, before, after, tails, free, lists, finish, status, rng
):
    """Try `moves` moves; `status` holds the best and the present makespan. The number of moves made: fewer
    when `target` is met.
    """
    order, best = lists
    for made in range(moves):
        if status[0] <= target:
            return made
        place = int(rng.random() * order.size)
        low, high = free_range(order, place, reach, before, after)
        to = low + int(rng.random() * (high - low + 1))
        if to == place:
            continue
        limit = status[1] + tolerated_loss(temperature, rng.random())
        move_entry(order, place, to)
        makespan = serial_within(limit, order, project, before, tails, free, finish)
        if makespan > limit:
            move_entry(order, to, place)
            continue
        status[1] = makespan
        if makespan < status[0]:
            status[0] = makespan
            best[:] = order
    return moves


def run(env_data, state, calc_makespan_fn):
    """Anneal from `state` until the share of the budget is spent or a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, tails, target, free, _work, order, finish = open_search(env_data, state)
    n = order.size
    lists = (order, order.copy())
    makespan = serial_within(free.shape[1], order, project, before, tails, free, finish)
    status = np.array([makespan, makespan], np.int64)
    reach = max(1, int(REACH * n))
    moves = made = max(5, CHUNK_ACTIVITIES // n)
    while made == moves and not budget.exhausted():
        heat = (START_TEMPERATURE / END_TEMPERATURE) ** (budget.remaining() * CYCLES % 1.0)
        temperature = makespan * END_TEMPERATURE * heat
        made = anneal(
            moves, reach, temperature, target, project, before, after, tails, free, lists, finish, status, rng
        )
        budget.charge(made)
    state.sequence = lists[1]
    return state
