"""Loads of one station: enumeration without dominated ones, and the best of them.

Source: J. R. Jackson, A computing procedure for a line balancing problem, 1956; T. R. Hoffmann, Assembly line
balancing with a precedence matrix, 1963.
"""

import numpy as np
from numba import njit
from parts.line_graph import open_predecessors


@njit(cache=True)
def dominance_matrix(times, graph, follows):
    """Element (i, j): task i can replace task j, being as long and preceding all that j precedes."""
    first_after, after, _, _ = graph
    n = times.size
    dominates = np.zeros((n, n), np.bool_)
    for i in range(n):
        for j in range(n):
            if i == j or times[i] < times[j] or follows[i, j] or follows[j, i]:
                continue
            dominates[i, j] = True
            for k in range(first_after[j], first_after[j + 1]):
                if not follows[i, after[k]]:
                    dominates[i, j] = False
                    break
            if dominates[i, j] and dominates[j, i]:
                dominates[i, j] = False  # equals: the earlier one, set before, keeps its right
    return dominates


@njit(cache=True)
def is_dominated(load, size, free, eligible, count, is_chosen, times, dominates):
    """Whether a task left out could replace one of the load to advantage (Jackson's rule)."""
    for p in range(count):
        task = eligible[p]
        if is_chosen[task]:
            continue
        for i in range(size):
            if dominates[task, load[i]] and times[task] - times[load[i]] <= free:
                return True
    return False


@njit(cache=True)
def maximal_loads(eligible, count, capacity, times, graph, waiting, dominates, loads, sizes, max_steps):
    """Enumerate, depth first, undominated loads of a station to which no further task can be added.

    The first `count` entries of `eligible` are the tasks without unassigned predecessors, in the order in
    which they are tried; `waiting` counts unassigned predecessors and is left as it was. Loads go to the rows
    of `loads`, their lengths to `sizes`. Returns their number (at least 1) and the steps made; the
    enumeration is complete when there are fewer than rows and than `max_steps`.
    """
    first_after, after, _, _ = graph
    n = times.size
    is_chosen = np.zeros(n, np.bool_)
    position, counts = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    load = np.empty(n, np.int64)
    is_full = np.ones(n + 1, np.bool_)
    depth, found, steps, p = 0, 0, 0, 0
    free = capacity
    has_spare = False
    is_over = False
    while True:
        while p < count and times[eligible[p]] > free:
            p += 1
        if p < count and not is_over:
            task = eligible[p]
            position[depth], counts[depth] = p, count
            is_full[depth] = False
            load[depth] = task
            free -= times[task]
            is_chosen[task] = True
            for k in range(first_after[task], first_after[task + 1]):
                waiting[after[k]] -= 1
                if waiting[after[k]] == 0:
                    eligible[count] = after[k]
                    count += 1
            depth += 1
            is_full[depth] = True
            p += 1
            continue
        if is_full[depth] and not is_over:
            is_maximal = True
            for q in range(count):
                if times[eligible[q]] <= free and not is_chosen[eligible[q]]:
                    is_maximal = False
                    break
            if is_maximal:
                is_kept = not is_dominated(load, depth, free, eligible, count, is_chosen, times, dominates)
                if is_kept or not has_spare:
                    for i in range(depth):
                        loads[found, i] = load[i]
                    sizes[found] = depth
                    has_spare = True
                    if is_kept:
                        found += 1
            steps += 1
            is_over = found == sizes.size or steps >= max_steps
        if depth == 0:
            return max(found, 1), steps
        depth -= 1
        p = position[depth]
        task = eligible[p]
        free += times[task]
        is_chosen[task] = False
        for k in range(first_after[task], first_after[task + 1]):
            waiting[after[k]] += 1
        count = counts[depth]
        p += 1


@njit(cache=True)
def loads_behind(is_done, ranking, capacity, times, graph, dominates, loads, sizes):
    """Undominated maximal loads of the station behind the tasks done, tried in the order of `ranking`.

    Number of loads and of steps as of :func:`maximal_loads`, which makes at most ten steps per row.
    """
    waiting = open_predecessors(graph, is_done)
    eligible = np.empty(times.size, np.int64)
    count = 0
    for task in ranking:
        if not is_done[task] and waiting[task] == 0:
            eligible[count] = task
            count += 1
    return maximal_loads(
        eligible, count, capacity, times, graph, waiting, dominates, loads, sizes, 10 * sizes.size
    )


@njit(cache=True)
def fill_station(ranking, value, capacity, times, graph, is_done, dominates, loads, sizes, order, done):
    """Assign the maximal load of greatest total value; returns the tasks done now and the loads tried.

    At most as many loads are tried as `loads` has rows. `order` lists the tasks as they were done,
    `done` is their number.
    """
    found, steps = loads_behind(is_done, ranking, capacity, times, graph, dominates, loads, sizes)
    best, best_value = 0, -np.inf
    for row in range(found):
        total = 0.0
        for i in range(sizes[row]):
            total += value[loads[row, i]]
        if total > best_value:
            best, best_value = row, total
    for i in range(sizes[best]):
        is_done[loads[best, i]] = True
        order[done + i] = loads[best, i]
    return done + sizes[best], steps


def hoffmann_line(sides, direction, capacity, times, work, budget):
    """Tasks in the order of a line built by best loads, and its stations; ``None`` when the share is spent.

    `direction` 0 starts at the front, 1 at the end, 2 takes the more valuable load of both each time. `sides`
    holds, for the front and for the end, the graph, the values, the ranking and the dominance of tasks.
    """
    n = times.size
    is_done = np.zeros(n, np.bool_)
    ends = [[], []]
    order = np.empty(n, np.int64)
    assigned, stations = 0, 0
    while assigned < n:
        best = None
        for end in (0, 1) if direction == 2 else (direction,):
            graph, value, ranking, dominates = sides[end]
            trial = is_done.copy()
            size, tried = fill_station(
                ranking, value, capacity, times, graph, trial, dominates, work[0], work[1], order, 0
            )
            budget.charge(tried)
            load = order[:size].copy()
            worth = float(times[load].sum())
            if best is None or worth > best[0]:
                best = worth, end, load, trial
        _, end, load, is_done = best
        ends[end].append(load)
        assigned += load.size
        stations += 1
        if assigned < n and budget.exhausted():
            return None
    front = np.concatenate([np.empty(0, np.int64), *ends[0]])
    back = np.concatenate([np.empty(0, np.int64), *ends[1]])
    return np.concatenate([front, back[::-1]]).astype(np.int32), stations


# exchangeable: load-value
def load_value(times, follows, capacity, weight_factor, count_factor, task_cost):
    """What each task adds to the value of a load; row i of `follows` marks the followers of task i."""
    unit = times.mean() / 10.0
    weight = times + follows @ times.astype(np.float64)
    return times + weight_factor * weight + unit * (count_factor * follows.sum(axis=1) - task_cost)


@njit(cache=True)
def place_loads(station, parents, loads, sizes, chosen, level, fresh):
    """Write the chosen children: the station of every task so far, -1 where it is not assigned."""
    for row in range(chosen.size):
        child = chosen[row]
        fresh[row] = station[parents[child]]
        for i in range(sizes[child]):
            fresh[row, loads[child, i]] = level


def best_children(key, code, width):
    """Indices of at most `width` children of least key, one of each set of tasks."""
    order = np.argsort(key, kind="stable")
    _, first = np.unique(code[order], return_index=True)
    return order[np.sort(first)[:width]]


def room_for_children(most, n):
    """Empty arrays for `most` loads of stations and what a beam notes of them.

    Parent, tasks `(most, n)` and their number, key by which the best are chosen, code of the set of tasks.
    """
    return (
        np.empty(most, np.int64),
        np.empty((most, n), np.int16),
        np.empty(most, np.int64),
        np.empty(most, np.float64),
        np.empty(most, np.uint64),
    )
