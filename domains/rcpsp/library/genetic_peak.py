"""Genetic algorithm on activity lists with peak crossover and forward-backward improvement.

Method: the child keeps the stretch of its mother's list that uses the resources best among a few drawn at
random; what comes before and behind follows the order of the father. It is mutated, scheduled and
justified, and it replaces the longest member of the population unless a schedule with the same finish times
is there already. A population that has found nothing better for long is drawn anew around its best member.

Source: V. Valls, F. Ballestín, S. Quintanilla, A hybrid genetic algorithm for the resource-constrained
project scheduling problem, 2008 (peak crossover); D. Debels, M. Vanhoucke, A decomposition-based genetic
algorithm for the resource-constrained project-scheduling problem, 2007.

Complexity: four schedules per child, each O(N (predecessors + periods searched)) for N activities.
"""

import numpy as np
from numba import njit
from parts.population import admit, choose_parent, evolve, mutate
from parts.project import prepare
from parts.serial_schedules import evaluate, serial

POPULATION = 60  # tunable: int 4..500
MUTATION = 0.05  # tunable: float 0.0..0.5
DRAWN = 5  # tunable: int 1..100
TOURNAMENT = 2  # tunable: int 1..10
PATIENCE = 60  # tunable: int 1..1000
CHUNK_ACTIVITIES = 60_000  # activities scheduled by one kernel call


# exchangeable: crossover
@njit(cache=True)
def cross(mother, father, low, high, child, taken):
    """Child with the mother's list at places low..high - 1; the father's order before and behind them.

    `taken` is all false before and after. What the mother lists before `low` stays there, so precedence
    holds in the child because it holds in both parents.
    """
    n = mother.size
    for i in range(low, n):
        taken[mother[i]] = True
    place, behind = 0, high
    for x in father:
        if not taken[x]:
            child[place] = x
            place += 1
    for i in range(low, high):
        child[i] = mother[i]
        taken[mother[i]] = False
    for x in father:
        if taken[x]:
            child[behind] = x
            behind += 1
            taken[x] = False


@njit(cache=True)
def choose_stretch(mother, finish, drawn, durations, load, level, rng):
    """First place and end of the stretch of a list, best of `drawn`, whose activities run while most of the
    resources is used; `load` is the use by each activity, `level` has a place for each period.
    """
    n = mother.size
    level[:] = 0.0
    for x in mother:
        for t in range(finish[x] - durations[x], finish[x]):
            level[t] += load[x]
    best_low, best_high, most = 0, n, -1.0
    for _ in range(drawn):
        length = n // 4 + int(rng.random() * (n // 2 + 1))
        low = int(rng.random() * (n - length + 1))
        use = periods = 0.0
        for i in range(low, low + length):
            x = mother[i]
            for t in range(finish[x] - durations[x], finish[x]):
                use += level[t]
            periods += durations[x]
        if use > most * periods:
            best_low, best_high, most = low, low + length, use / max(periods, 1.0)
    return best_low, best_high


@njit(cache=True)
def breed(children, setting, target, population, project, before, after, free, work, child, rng):
    """Make at most `children` children; the numbers of those made and of members that got better."""
    mutation, tournament, drawn, load, level = setting
    lists, values, _codes = population
    order, finish, taken = child
    entered = 0
    for made in range(children):
        if values.min() <= target:
            return made, entered
        mother = choose_parent(values, tournament, rng)
        father = choose_parent(values, tournament, rng)
        serial(lists[mother], project, before, free, finish)
        low, high = choose_stretch(lists[mother], finish, drawn, project[0], load, level, rng)
        cross(lists[mother], lists[father], low, high, order, taken)
        mutate(order, mutation, before[0], before[1], rng)
        makespan = evaluate(order, finish, project, before, after, free, work)
        entered += admit(order, makespan, finish, population)
    return children, entered


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or a lower bound is met."""
    rng, children = env_data["rng"], max(5, CHUNK_ACTIVITIES // (4 * env_data["num_activities"]))
    load = (np.asarray(env_data["requests"]) / np.maximum(env_data["capacities"], 1)).sum(axis=1)
    setting = (MUTATION, TOURNAMENT, DRAWN, load, np.empty(prepare(env_data)[3], np.float64))

    def renewal(target, population, *arrays):
        made, entered = breed(children, setting, target, population, *arrays, rng)
        return 4 * made, made, entered

    return evolve(env_data, state, POPULATION, PATIENCE, children, renewal)
