"""Genetic algorithm on activity lists with two-point crossover and forward-backward improvement.

Method: parents won in tournaments exchange a middle part of their lists; the child is mutated, scheduled
and justified, and it replaces the longest member of the population unless a schedule with the same finish
times is there already. A population that has found nothing better for long is drawn anew around its best
member.

Source: S. Hartmann, A competitive genetic algorithm for resource-constrained project scheduling, 1998; V.
Valls, F. Ballestín, S. Quintanilla, Justification and RCPSP: a technique that pays, 2005.

Complexity: three schedules per child, each O(N (predecessors + periods searched)) for N activities.
"""

from numba import njit
from parts.population import admit, choose_parent, cross, evolve, mutate
from parts.serial_schedules import evaluate

POPULATION = 60  # tunable: int 4..500
MUTATION = 0.05  # tunable: float 0.0..0.5
TOURNAMENT = 2  # tunable: int 1..10
PATIENCE = 60  # tunable: int 1..1000
CHUNK_ACTIVITIES = 60_000  # activities scheduled by one kernel call


@njit(cache=True)
def breed(children, setting, target, population, project, before, after, free, work, child, rng):
    """Make at most `children` children; the numbers of those made and of members that got better."""
    mutation, tournament = setting
    lists, values, _codes = population
    order, finish, taken = child
    n = order.size
    entered = 0
    for made in range(children):
        if values.min() <= target:
            return made, entered
        mother = choose_parent(values, tournament, rng)
        father = choose_parent(values, tournament, rng)
        low = int(rng.random() * n)
        high = low + 1 + int(rng.random() * (n - low))
        cross(lists[mother], lists[father], low, high, order, taken)
        mutate(order, mutation, before[0], before[1], rng)
        makespan = evaluate(order, finish, project, before, after, free, work)
        entered += admit(order, makespan, finish, population)
    return children, entered


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or a lower bound is met."""
    rng, children = env_data["rng"], max(5, CHUNK_ACTIVITIES // (3 * env_data["num_activities"]))

    def renewal(target, population, *arrays):
        made, entered = breed(children, (MUTATION, TOURNAMENT), target, population, *arrays, rng)
        return 3 * made, made, entered

    return evolve(env_data, state, POPULATION, PATIENCE, children, renewal)
