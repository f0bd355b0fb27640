"""Tabu search on the list with sampled insertions.

Method: each iteration tries a number of random insertions and makes the best one that is not tabu, even if
the schedule gets longer; an attempt is given up as soon as it cannot beat the best one so far. The activity
moved stays where it is for a while, unless moving it gives a new best schedule. After many iterations
without gain the search goes on from the justified best schedule.

Source: P. R. Thomas, S. Salhi, A tabu search approach for the resource constrained project scheduling
problem, 1998; K. Nonobe, T. Ibaraki, Formulation and tabu search algorithm for the resource constrained
project scheduling problem, 2002.

Complexity: at most SAMPLE schedules per iteration, O(N (predecessors + periods searched)) each for N
activities.
"""

import numpy as np
from numba import njit
from parts.project import open_search
from parts.sequences.entry_move import move_entry
from parts.sequences.precedence import free_range
from parts.serial_schedules import justify, serial, serial_within

SAMPLE = 20  # tunable: int 1..500
TENURE = 0.15  # tunable: float 0.0..2.0
REACH = 0.2  # tunable: float 0.01..1.0
PATIENCE = 300  # tunable: int 1..100000
CHUNK_ACTIVITIES = 40_000  # attempts of one kernel call times activities of the instance


# exchangeable: tabu-tenure
@njit(cache=True)
def tabu_tenure(base, draw):
    """Iterations an activity stays where it is; `draw` is uniform on [0, 1)."""
    return int(base * (0.5 + draw)) + 1


@njit(cache=True)
def search(
    iterations, setting, target, project, before, after, tails, free, work, lists, finish, tabu, status, rng
):
    """At most `iterations` iterations; `status` holds the best and the present makespan, the number of the
    iteration and of the last one with a gain. Returns the number of iterations made.
    """
    sample, tenure, reach, patience, horizon = setting
    order, best = lists
    for made in range(iterations):
        if status[0] <= target:
            return made
        status[2] += 1
        source = goal = -1
        value = horizon
        for _ in range(sample):
            place = int(rng.random() * order.size)
            low, high = free_range(order, place, reach, before, after)
            to = low + int(rng.random() * (high - low + 1))
            if to == place:
                continue
            limit = value - 1
            if tabu[order[place]] >= status[2]:
                limit = min(limit, status[0] - 1)
            move_entry(order, place, to)
            makespan = serial_within(limit, order, project, before, tails, free, finish)
            move_entry(order, to, place)
            if makespan <= limit:
                value, source, goal = makespan, place, to
        if source >= 0:
            tabu[order[source]] = status[2] + tabu_tenure(tenure, rng.random())
            move_entry(order, source, goal)
            status[1] = value
            if value < status[0]:
                status[0], status[3] = value, status[2]
                best[:] = order
        if status[2] - status[3] >= patience:
            order[:] = best
            makespan = serial(order, project, before, free, finish)
            status[1] = justify(order, finish, makespan, project, before, after, free, work)
            if status[1] <= status[0]:
                status[0] = status[1]
                best[:] = order
            status[3] = status[2]
    return iterations


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, tails, target, free, work, order, finish = open_search(env_data, state)
    n = order.size
    lists = (order, order.copy())
    makespan = serial(order, project, before, free, finish)
    status = np.array([makespan, makespan, 0, 0], np.int64)
    setting = (SAMPLE, TENURE * n, max(1, int(REACH * n)), PATIENCE, free.shape[1])
    tabu = np.zeros(n, np.int64)
    iterations = made = max(2, CHUNK_ACTIVITIES // (n * SAMPLE))
    while made == iterations and not budget.exhausted():
        made = search(
            iterations, setting, target, project, before, after, tails, free, work, lists, finish, tabu,
            status, rng,
        )  # fmt: skip
        budget.charge(made * SAMPLE)
    state.sequence = lists[1]
    return state
