"""Populations of activity lists, and what makes children."""

import numpy as np
from numba import njit
from parts.lists import random_list
from parts.project import open_search
from parts.serial_schedules import evaluate, fingerprint


def settle(order, makespan, size):
    """A population of `size` copies of one list: lists, makespans, fingerprints of the schedules."""
    lists = np.empty((size, order.size), np.int32)
    lists[:] = order
    return lists, np.full(size, makespan, np.int64), np.zeros(size, np.int64)


@njit(cache=True)
def found(count, population, project, before, after, free, work, child, rng):
    """Draw `count` lists at random; each takes the place of a copy of the first member (fingerprint 0)."""
    lists, values, codes = population
    order, finish, _taken = child
    for i in range(1, values.size):
        if codes[i] == 0 and count > 0:
            random_list(order, before, after, rng)
            values[i] = evaluate(order, finish, project, before, after, free, work)
            codes[i] = max(fingerprint(finish), 1)
            lists[i] = order
            count -= 1


@njit(cache=True)
def admit(order, makespan, finish, population):
    """Put a list in place of the longest one unless it is longer or its schedule is there; 1 if that is a
    gain, else 0.
    """
    lists, values, codes = population
    worst = values.argmax()
    if makespan > values[worst]:
        return 0
    code = fingerprint(finish)
    for i in range(values.size):
        if codes[i] == code and values[i] == makespan:
            return 0
    is_gain = makespan < values[worst]
    values[worst], codes[worst] = makespan, code
    lists[worst] = order
    return 1 if is_gain else 0


# exchangeable: parent-choice
@njit(cache=True)
def choose_parent(values, tournament, rng):
    """Place of the shortest of `tournament` members drawn at random."""
    best = int(rng.random() * values.size)
    for _ in range(tournament - 1):
        other = int(rng.random() * values.size)
        if values[other] < values[best]:
            best = other
    return best


# exchangeable: crossover
@njit(cache=True)
def cross(mother, father, low, high, child, taken):
    """Child with the mother's list outside places low..high - 1, the father's order within them.

    `taken` is all false before and after; precedence holds in the child because it holds in both parents.
    """
    n = mother.size
    for i in range(low):
        child[i] = mother[i]
        taken[mother[i]] = True
    place = low
    for x in father:
        if place == high:
            break
        if not taken[x]:
            child[place] = x
            taken[x] = True
            place += 1
    for x in mother:
        if not taken[x]:
            child[place] = x
            place += 1
    for x in range(n):
        taken[x] = False


# exchangeable: mutation
@njit(cache=True)
def mutate(order, rate, first, others, rng):
    """Swap neighbours in the list with probability `rate` each, where no precedence forbids it."""
    for i in range(order.size - 1):
        if rng.random() < rate:
            u, v = order[i], order[i + 1]
            is_free = True
            for k in range(first[v], first[v + 1]):
                is_free = is_free and others[k] != u
            if is_free:
                order[i], order[i + 1] = v, u


def evolve(env_data, state, size, patience, newcomers, renewal):
    """Renew populations around `state` until the share of the budget is spent or a lower bound is met.

    A population has `size` lists: the best one so far, and random ones, at most `newcomers` in a step. After
    that ``renewal(target, population, project, before, after, free, work, child)`` changes some lists; it
    returns the schedules it has made, the attempts, and the members that got better. When `patience` times
    `size` attempts in a row brought none, the next population begins.
    """
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, _tails, target, free, work, order, finish = open_search(env_data, state)
    child = (order, finish, np.zeros(order.size, np.bool_))
    best = order.copy()
    best_value = evaluate(best, child[1], project, before, after, free, work)
    while best_value > target and not budget.exhausted():
        population = settle(best, best_value, size)
        lists, values, _codes = population
        idle = met = 0
        while idle < patience * size and best_value > target and not (met and budget.exhausted()):
            if met < size:
                more = min(newcomers, size - met)
                found(more, population, project, before, after, free, work, child, rng)
                budget.charge(3 * more)
                met += more
            else:
                schedules, attempts, entered = renewal(
                    target, population, project, before, after, free, work, child
                )
                budget.charge(schedules)
                idle = 0 if entered else idle + attempts
            if values.min() < best_value:
                best_value = values.min()
                best = lists[values.argmin()].copy()
    state.sequence = best
    return state
