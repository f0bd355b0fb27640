"""Iterated local search: random insertions, justification, descent, and back to the better schedule.

Method: a few activities of the present list move to random places; the schedule is justified and then
improved by random insertions that do not lengthen it, ATTEMPTS of them. The new list replaces the present
one unless it is longer; after many rounds without gain the search goes on from the best list, disturbed
three times as much.

Source: H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003; K. Fleszar, K. S. Hindi,
Solving the resource-constrained project scheduling problem by a variable neighbourhood search, 2004.

Complexity: ATTEMPTS + 3 schedules per round, O(N (predecessors + periods searched)) each for N activities.
"""

import numpy as np
from numba import njit
from parts.lists import shake
from parts.project import open_search
from parts.sequences.entry_move import move_entry
from parts.sequences.precedence import free_range
from parts.serial_schedules import justify, serial, serial_within

MOVES = 4  # tunable: int 1..100
ATTEMPTS = 15  # tunable: int 0..1000
REACH = 0.25  # tunable: float 0.01..1.0
PATIENCE = 500  # tunable: int 1..100000
CHUNK_ACTIVITIES = 40_000  # attempts of one kernel call times activities of the instance


@njit(cache=True)
def improve(order, makespan, attempts, reach, project, before, after, tails, free, finish, rng):
    """Random insertions that do not lengthen the schedule; the new makespan."""
    for _ in range(attempts):
        place = int(rng.random() * order.size)
        low, high = free_range(order, place, reach, before, after)
        to = low + int(rng.random() * (high - low + 1))
        if to != place:
            move_entry(order, place, to)
            value = serial_within(makespan, order, project, before, tails, free, finish)
            if value > makespan:
                move_entry(order, to, place)
            else:
                makespan = value
    return makespan


@njit(cache=True)
def search(rounds, setting, target, project, before, after, tails, free, work, lists, finish, status, rng):
    """At most `rounds` rounds; `status` holds the best and the present makespan and the rounds since the last
    gain. Returns the number of rounds made.
    """
    moves, attempts, reach, patience = setting
    current, order, best = lists
    for made in range(rounds):
        if status[0] <= target:
            return made
        order[:] = current
        strength = moves
        if status[2] >= patience:
            order[:] = best
            status[1], status[2] = 2**40, 0
            strength = 3 * moves
        shake(order, strength, reach, before, after, rng)
        makespan = serial(order, project, before, free, finish)
        makespan = justify(order, finish, makespan, project, before, after, free, work)
        makespan = improve(order, makespan, attempts, reach, project, before, after, tails, free, finish, rng)
        status[2] += 1
        if makespan <= status[1]:
            status[1] = makespan
            current[:] = order
            if makespan < status[0]:
                status[0], status[2] = makespan, 0
                best[:] = order
    return rounds


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, tails, target, free, work, current, finish = open_search(env_data, state)
    n = current.size
    lists = (current, current.copy(), current.copy())
    makespan = serial(current, project, before, free, finish)
    status = np.array([makespan, makespan, 0], np.int64)
    setting = (MOVES, ATTEMPTS, max(1, int(REACH * n)), PATIENCE)
    rounds = made = max(2, CHUNK_ACTIVITIES // (n * (ATTEMPTS + 3)))
    while made == rounds and not budget.exhausted():
        made = search(
            rounds, setting, target, project, before, after, tails, free, work, lists, finish, status, rng
        )
        budget.charge(made * (ATTEMPTS + 3))
    state.sequence = lists[2]
    return state
