"""Hoffmann's enumeration: each station in turn gets the best of its possible loads.

Method: all maximal loads of the next station are enumerated, up to a limit; the one with the least idle
time is fixed. The line is built from the start, from the end, and from both sides at once; the shortest
of the three is returned. A greedy line is at hand for the case that time is short.

Source: T. R. Hoffmann, Assembly line balancing with a precedence matrix, 1963; W. V. Gehrlein, J. H.
Patterson, Sequencing for assembly lines with integer task times, 1975 (limits); K. Fleszar, K. S. Hindi,
An enumerative heuristic and reduction methods for the assembly line balancing problem, 2003 (both sides).

Complexity: O(L (l + a)) per station for L loads of l tasks and a available tasks.
"""

import numpy as np
from numba import njit

LOADS = 500  # tunable: int 1..3000
TIE_WEIGHT = 0.0005  # tunable: float 0.0..0.02
CHUNK_TASKS = 400_000  # loads of one enumeration times tasks of the line


def kin_of_tasks(edges, n, here, there):
    """Direct kin of all tasks: that of task i is kin[first[i] : first[i + 1]]."""
    first = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(edges[:, here], minlength=n), out=first[1:])
    return first, edges[np.argsort(edges[:, here], kind="stable"), there].copy()


def line_data(env_data):
    """Task times, int64, and the graph: successors (first, kin) and predecessors (first, kin)."""
    times = np.array(env_data["times"], dtype=np.int64)
    edges = np.array(env_data["edges"], dtype=np.int64).reshape(-1, 2)
    return times, kin_of_tasks(edges, times.size, 0, 1) + kin_of_tasks(edges, times.size, 1, 0)


def reversed_graph(graph):
    """The graph of the line read from its end: successors and predecessors exchanged."""
    return graph[2], graph[3], graph[0], graph[1]


def least_stations(times, capacity):
    """Stations that any line needs: the bin-packing bound L2 of Martello and Toth."""
    best = 1
    for small in np.unique(np.append(times[2 * times <= capacity], 0)):
        alone = np.count_nonzero(times > capacity - small)
        large = times[(2 * times > capacity) & (times <= capacity - small)]
        rest = times[(times >= small) & (2 * times <= capacity)].sum()
        overflow = rest - (large.size * capacity - large.sum())
        best = max(best, alone + large.size + max(0, -(-int(overflow) // capacity)))
    return best


@njit(cache=True)
def follower_matrix(graph):
    """Element (i, j) tells whether task j comes after task i, directly or through others."""
    first_after, after, first_before, before = graph
    n = first_after.size - 1
    follows = np.zeros((n, n), np.bool_)
    waiting = np.empty(n, np.int64)
    ready = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        waiting[i] = first_after[i + 1] - first_after[i]
        if waiting[i] == 0:
            ready[count] = i
            count += 1
    while count > 0:
        count -= 1
        i = ready[count]
        for k in range(first_after[i], first_after[i + 1]):
            follows[i, after[k]] = True
            for j in range(n):
                if follows[after[k], j]:
                    follows[i, j] = True
        for k in range(first_before[i], first_before[i + 1]):
            waiting[before[k]] -= 1
            if waiting[before[k]] == 0:
                ready[count] = before[k]
                count += 1
    return follows


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
def open_predecessors(graph, is_done):
    """Number of direct predecessors of each task that are not done; out of reach for done tasks."""
    _, _, first_before, before = graph
    waiting = np.zeros(is_done.size, np.int64)
    for task in range(is_done.size):
        if is_done[task]:
            waiting[task] = is_done.size + 1
        for k in range(first_before[task], first_before[task + 1]):
            if not is_done[before[k]]:
                waiting[task] += 1
    return waiting


@njit(cache=True)
def fill_station(ranking, value, capacity, times, graph, is_done, dominates, loads, sizes, order, done):
    """Assign the maximal load of greatest total value; returns the tasks done now and the loads tried.

    At most as many loads are tried as `loads` has rows. `order` lists the tasks as they were done,
    `done` is their number.
    """
    n = times.size
    waiting = open_predecessors(graph, is_done)
    eligible = np.empty(n, np.int64)
    count = 0
    for task in ranking:
        if not is_done[task] and waiting[task] == 0:
            eligible[count] = task
            count += 1
    found, steps = maximal_loads(
        eligible, count, capacity, times, graph, waiting, dominates, loads, sizes, 10 * sizes.size
    )
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


@njit(cache=True)
def greedy_line(priority, capacity, times, graph, sequence):
    """Fill stations one by one with the available task of highest priority that fits; their number."""
    first_after, after, first_before, _ = graph
    n = times.size
    waiting = np.empty(n, np.int64)
    available = np.empty(n, np.int64)
    count = 0
    for task in range(n):
        waiting[task] = first_before[task + 1] - first_before[task]
        if waiting[task] == 0:
            available[count] = task
            count += 1
    stations, free = 1, capacity
    for i in range(n):
        chosen = -1
        while chosen < 0:
            for p in range(count):
                if times[available[p]] <= free and (
                    chosen < 0 or priority[available[p]] > priority[available[chosen]]
                ):
                    chosen = p
            if chosen < 0:
                stations, free = stations + 1, capacity
        task = available[chosen]
        sequence[i] = task
        free -= times[task]
        count -= 1
        available[chosen] = available[count]
        for k in range(first_after[task], first_after[task + 1]):
            waiting[after[k]] -= 1
            if waiting[after[k]] == 0:
                available[count] = after[k]
                count += 1
    return stations


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


def run(env_data, state, calc_makespan_fn):
    """Give `state` the shortest of the three lines."""
    budget, capacity = env_data["budget"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    bound = least_stations(times, capacity)
    follows = follower_matrix(graph)
    sides = []
    for side, kin in ((graph, follows), (reversed_graph(graph), np.ascontiguousarray(follows.T))):
        value = load_value(times, kin, capacity, TIE_WEIGHT, 0.0, 0.0)
        ranking = np.argsort(-value, kind="stable")
        sides.append((side, value, ranking, dominance_matrix(times, side, kin)))
    state.sequence = np.empty(times.size, np.int32)
    fewest = greedy_line(sides[0][1], capacity, times, graph, state.sequence)
    rows = max(1, min(LOADS, CHUNK_TASKS // times.size))
    work = np.empty((rows, times.size), np.int64), np.empty(rows, np.int64)
    for direction in range(3):
        if fewest <= bound or budget.exhausted():
            break
        line = hoffmann_line(sides, direction, capacity, times, work, budget)
        if line is not None and line[1] < fewest:
            state.sequence, fewest = line
    return state
