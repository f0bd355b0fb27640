"""Bi-population genetic algorithm: one population of forward, one of backward lists feed each other.

Method: two forward lists, taken from backward schedules, are crossed by two points, mutated and scheduled
forwards; the schedule, listed by falling finish time, enters the population of backward lists in place of
the longest one, if it is new and not longer. The same is done backwards in time, child by child, so that
every schedule is justified by what becomes of it. Populations that have found nothing better for long are
drawn anew.

Source: D. Debels, M. Vanhoucke, A bi-population based genetic algorithm for the resource-constrained
project scheduling problem, 2005.

Complexity: one schedule per child, O(N (predecessors + periods searched)) for N activities.
"""

import numpy as np
from numba import njit
from parts.lists import random_list
from parts.population import choose_parent, cross, mutate
from parts.project import set_up
from parts.serial_schedules import fingerprint, serial, turn

POPULATION = 60  # tunable: int 4..500
MUTATION = 0.05  # tunable: float 0.0..0.5
TOURNAMENT = 2  # tunable: int 1..10
PATIENCE = 60  # tunable: int 1..1000
CHUNK_ACTIVITIES = 60_000  # children of one kernel call times activities of the instance


@njit(cache=True)
def enter(side, makespan, population, child, bucket):
    """Give a schedule made in one direction, as a list for the other, to the population of the other `side`
    if it is new and not longer than the longest one there; 1 if that is a gain, else 0.
    """
    lists, values, codes = population
    order, finish, _taken, turned = child
    worst = values[side].argmax()
    if makespan > values[side, worst]:
        return 0
    code = fingerprint(finish)
    for i in range(values.shape[1]):
        if codes[side, i] == code and values[side, i] == makespan:
            return 0
    turn(order, finish, makespan, bucket, turned)
    is_gain = makespan < values[side, worst]
    lists[side, worst] = turned
    values[side, worst], codes[side, worst] = makespan, code
    return 1 if is_gain else 0


@njit(cache=True)
def keep_best(side, makespan, child, bucket, status, best):
    """Remember the forward list of a schedule shorter than all before."""
    order, finish, _taken, turned = child
    if makespan < status[0]:
        status[0] = makespan
        if side == 1:
            turn(order, finish, makespan, bucket, turned)
            best[:] = turned
        else:
            best[:] = order


@njit(cache=True)
def found_both(count, population, project, networks, free, bucket, child, status, best, rng):
    """Draw `count` lists at random; they and their backward schedules enter the populations."""
    order, finish, _taken, turned = child
    for _ in range(count):
        random_list(order, networks[0], networks[1], rng)
        for side in range(2):
            makespan = serial(order, project, networks[side], free, finish)
            keep_best(side, makespan, child, bucket, status, best)
            enter(1 - side, makespan, population, child, bucket)
            turn(order, finish, makespan, bucket, turned)
            order[:] = turned


@njit(cache=True)
def breed(children, setting, target, population, project, networks, free, bucket, child, status, best, rng):
    """Make at most `children` children; the numbers of those made and of members that got better."""
    mutation, tournament = setting
    lists, values, _codes = population
    order, finish, taken, _turned = child
    n = order.size
    entered = 0
    for made in range(children):
        if status[0] <= target:
            return made, entered
        side = made % 2
        before = networks[side]
        mother = choose_parent(values[side], tournament, rng)
        father = choose_parent(values[side], tournament, rng)
        low = int(rng.random() * n)
        high = low + 1 + int(rng.random() * (n - low))
        cross(lists[side, mother], lists[side, father], low, high, order, taken)
        mutate(order, mutation, before[0], before[1], rng)
        makespan = serial(order, project, before, free, finish)
        entered += enter(1 - side, makespan, population, child, bucket)
        keep_best(side, makespan, child, bucket, status, best)
    return children, entered


def settle_both(order, turned, makespan, size):
    """Two populations: the first member of each is a given list, the others are places still free."""
    lists = np.empty((2, size, order.size), np.int32)
    lists[0], lists[1] = order, turned
    values = np.full((2, size), 2**40, np.int64)
    values[:, 0] = makespan
    return lists, values, np.zeros((2, size), np.int64)


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, _tails, target, free = set_up(env_data)
    n = project[0].size
    bucket, finish, turned = np.empty(free.shape[1], np.int64), np.empty(n, np.int64), np.empty(n, np.int32)
    best = np.array(state.sequence, dtype=np.int32)
    child = (best.copy(), finish, np.zeros(n, np.bool_), turned)
    status = np.array([serial(best, project, before, free, finish)], np.int64)
    children = max(5, CHUNK_ACTIVITIES // n)
    while status[0] > target and not budget.exhausted():
        makespan = serial(best, project, before, free, finish)
        turn(best, finish, makespan, bucket, turned)
        population = settle_both(best, turned, makespan, POPULATION)
        idle = met = 0
        while idle < PATIENCE * POPULATION and status[0] > target and not (met and budget.exhausted()):
            if met < POPULATION:
                more = min(children, POPULATION - met)
                found_both(more, population, project, (before, after), free, bucket, child, status, best, rng)
                budget.charge(2 * more)
                met += more
                continue
            made, entered = breed(
                children, (MUTATION, TOURNAMENT), target, population, project, (before, after), free, bucket,
                child, status, best, rng,
            )  # fmt: skip
            budget.charge(made)
            idle = 0 if entered else idle + made
    state.sequence = best
    return state
