"""Genetic algorithm on precedence-feasible sequences with two-point order crossover.

Method: a population of sequences, the given one among random ones. A child keeps the ends of one parent
and has the tasks between in the order of the other, which keeps precedence; with some probability the
part behind a random place is drawn anew. A child that is not worse than the worst member replaces it,
unless it equals a member in value. Values are stations first, then how much the idle time is gathered.
Uses its whole share.

Source: Y. Y. Leu, L. A. Matheson, L. P. Rees, Assembly line balancing using genetic algorithms with
heuristic-generated initial populations and multiple evaluation criteria, 1994.

Complexity: O(n + m) per child for n tasks and m relations, apart from the reading of the line.
"""

import numpy as np
from numba import njit
from parts.line_graph import least_stations, line_data
from parts.sequences.precedence import release
from parts.stations import first_fit, greedy_line

POPULATION = 40  # tunable: int 4..500
MUTATION = 0.2  # tunable: float 0.0..1.0
CHUNK_TASKS = 60_000  # children of one kernel call times tasks of the line


# exchangeable: line-value
@njit(cache=True)
def line_value(load, used, capacity):
    """Fitness of a line, lower is better: its stations, then how evenly idle time is spread."""
    total = 0.0
    for place in range(used):
        total += (load[place] / capacity) ** 2
    return used - 0.5 * total / used


@njit(cache=True)
def cross(mother, father, child, rng):
    """Two-point order crossover: the child has the mother's ends and the father's order between them."""
    n = child.size
    low, high = int(rng.random() * n), int(rng.random() * n)
    if low > high:
        low, high = high, low
    child[:] = mother
    is_inside = np.zeros(n, np.bool_)
    for i in range(low, high + 1):
        is_inside[mother[i]] = True
    for task in father:
        if is_inside[task]:
            child[low] = task
            low += 1


@njit(cache=True)
def redraw(child, graph, rng):
    """Draw the part behind a random place anew, among tasks whose predecessors stand before."""
    first_after, after, first_before, before = graph
    n = child.size
    start = int(rng.random() * n)
    is_placed = np.zeros(n, np.bool_)
    for i in range(start):
        is_placed[child[i]] = True
    waiting = np.zeros(n, np.int64)
    ready = np.empty(n, np.int64)
    count = 0
    for i in range(start, n):
        task = child[i]
        for k in range(first_before[task], first_before[task + 1]):
            waiting[task] += not is_placed[before[k]]
        if waiting[task] == 0:
            ready[count] = task
            count += 1
    for i in range(start, n):
        chosen = int(rng.random() * count)
        task = ready[chosen]
        count -= 1
        ready[chosen] = ready[count]
        child[i] = task
        count = release(task, first_after, after, waiting, ready, count)


@njit(cache=True)
def breed(children, mutation, capacity, times, graph, members, values, station, load, rng):
    """Make `children` children; members and their values change in place."""
    size, n = members.shape
    child = np.empty(n, np.int32)
    for _ in range(children):
        a, b = int(rng.random() * size), int(rng.random() * size)
        other = int(rng.random() * size)
        if values[other] < values[a]:
            a = other
        cross(members[a], members[b], child, rng)
        if rng.random() < mutation:
            redraw(child, graph, rng)
        used = first_fit(child, capacity, times, graph, station, load)
        value = line_value(load, used, capacity)
        worst = np.argmax(values)
        is_new = True
        for member in range(size):
            if abs(values[member] - value) < 1e-12:
                is_new = False
        if is_new and value <= values[worst]:
            members[worst] = child
            values[worst] = value


def run(env_data, state, calc_makespan_fn):
    """Breed from `state` and random lines until the share is spent or the bound is met."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    bound = least_stations(times, capacity)
    station, load = np.empty(times.size, np.int64), np.empty(times.size, np.int64)
    members = np.empty((POPULATION, times.size), np.int32)
    values = np.full(POPULATION, np.inf)
    for member in range(POPULATION):
        if member == 0:
            members[0] = state.sequence
        else:
            greedy_line(rng.random(times.size), capacity, times, graph, members[member])
        used = first_fit(members[member], capacity, times, graph, station, load)
        values[member] = line_value(load, used, capacity)
        budget.charge(1)
        if member >= 1 and budget.exhausted():
            members, values = members[: member + 1].copy(), values[: member + 1].copy()
            break
    children = max(1, CHUNK_TASKS // (10 * times.size))
    while np.ceil(values.min()) > bound and not budget.exhausted():
        breed(children, MUTATION, capacity, times, graph, members, values, station, load, rng)
        budget.charge(children)
    state.sequence = members[int(np.argmin(values))].copy()
    return state
