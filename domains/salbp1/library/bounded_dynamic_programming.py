"""Bounded dynamic programming: station by station, the best few sets of assigned tasks survive.

Method: stage k holds sets of tasks that fill k stations. Each is extended by maximal loads, the best
BRANCHES of a limited number; of the new sets a limited number survive, those with most time assigned and,
for equal time, fewest tasks. Sets that cannot lead to a shorter line are dropped. Passes alternate
between the two directions of the line; the number of survivors grows and keys are blurred a little, until
the share is spent or the bound is met.

Source: J. Bautista, J. Pereira, A dynamic programming based heuristic for the assembly line balancing
problem, 2009.

Complexity: O(m + L (l + a)) per set for m relations and L loads of l tasks with a available ones.
"""

import numpy as np
from numba import njit

FIRST_WIDTH = 10  # tunable: int 1..500
MOST_WIDTH = 400  # tunable: int 10..5000
WIDENING = 1.5  # tunable: float 1.0..10.0
BRANCHES = 12  # tunable: int 1..200
LOADS = 300  # tunable: int 1..3000
FEWER_TASKS = 0.02  # tunable: float 0.0..1.0
NOISE = 0.02  # tunable: float 0.0..1.0
CHUNK_SETS = 4  # sets extended by one kernel call


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


def in_order_of_stations(sequence, station):
    """The tasks station by station, within one in the order of the topological order `sequence`."""
    return sequence[np.argsort(station[sequence], kind="stable")]


# exchangeable: set-key
@njit(cache=True)
def set_key(time_left, tasks_left, capacity, fewer_tasks):
    """Rank of a set of assigned tasks within its stage, lower survives."""
    return time_left / capacity - fewer_tasks * tasks_left


@njit(cache=True)
def extend(first, end, station, problem, room, fewer_tasks, noise, work, count, children, rng):
    """Extend the sets first..end-1 by loads; returns the children so far and the loads tried."""
    capacity, times, graph, dominates, ranking, codes = problem
    loads, sizes, keys = work
    parents, child_loads, child_sizes, child_keys, child_codes = children
    n = times.size
    is_done = np.empty(n, np.bool_)
    eligible = np.empty(n, np.int64)
    branches = child_keys.size // station.shape[0]
    tried = 0
    for row in range(first, end):
        time_left, tasks_left = 0, 0
        code = np.uint64(0)
        for task in range(n):
            is_done[task] = station[row, task] >= 0
            if is_done[task]:
                code ^= codes[task]
            else:
                time_left += times[task]
                tasks_left += 1
        waiting = open_predecessors(graph, is_done)
        available = 0
        for task in ranking:
            if not is_done[task] and waiting[task] == 0:
                eligible[available] = task
                available += 1
        found, steps = maximal_loads(
            eligible, available, capacity, times, graph, waiting, dominates, loads, sizes, 10 * sizes.size
        )
        tried += steps
        for i in range(found):
            left = time_left
            for j in range(sizes[i]):
                left -= times[loads[i, j]]
            keys[i] = set_key(left, tasks_left - sizes[i], capacity, fewer_tasks) + noise * rng.random()
            if left > room * capacity:
                keys[i] = np.inf
            elif tasks_left == sizes[i]:
                keys[i] = -1e300
        for i in np.argsort(keys[:found])[:branches]:
            if keys[i] == np.inf:
                break
            mark = code
            for j in range(sizes[i]):
                child_loads[count, j] = loads[i, j]
                mark ^= codes[loads[i, j]]
            parents[count], child_sizes[count], child_keys[count], child_codes[count] = (
                row,
                sizes[i],
                keys[i],
                mark,
            )
            count += 1
    return count, tried


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


def one_pass(problem, width, goal, budget, rng):
    """Station of every task in a line of at most `goal` stations; ``None`` if none was found."""
    n = problem[1].size
    station = np.full((1, n), -1, np.int32)
    work = np.empty((LOADS, n), np.int64), np.empty(LOADS, np.int64), np.empty(LOADS, np.float64)
    for level in range(goal):
        most = len(station) * BRANCHES
        children = (
            np.empty(most, np.int64),
            np.empty((most, n), np.int16),
            np.empty(most, np.int64),
            np.empty(most, np.float64),
            np.empty(most, np.uint64),
        )
        count = 0
        for first in range(0, len(station), CHUNK_SETS):
            end = min(first + CHUNK_SETS, len(station))
            room = goal - level - 1
            count, tried = extend(
                first, end, station, problem, room, FEWER_TASKS, NOISE, work, count, children, rng
            )
            budget.charge(tried)
            if budget.exhausted():
                return None
        if count == 0:
            return None
        parents, loads, sizes, keys, codes = children
        chosen = best_children(keys[:count], codes[:count], width)
        fresh = np.empty((chosen.size, n), np.int32)
        place_loads(station, parents, loads, sizes, chosen, level, fresh)
        if fresh[0].min() >= 0:
            return fresh[0]
        station = fresh
    return None


def run(env_data, state, calc_makespan_fn):
    """Look for lines shorter than `state` until the share is spent or the bound is met."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    bound = least_stations(times, capacity)
    sequence = np.array(state.sequence, dtype=np.int32)
    fewest = int(calc_makespan_fn(state))
    codes = rng.integers(0, 2**64, times.size, dtype=np.uint64)
    follows = follower_matrix(graph)
    sides = []
    for side, kin in ((graph, follows), (reversed_graph(graph), np.ascontiguousarray(follows.T))):
        weight = times + kin @ times
        ranking = np.argsort(-(times + 0.001 * weight), kind="stable")
        sides.append((capacity, times, side, dominance_matrix(times, side, kin), ranking, codes))
    width = float(FIRST_WIDTH)
    direction = 0
    while fewest > bound and not budget.exhausted():
        station = one_pass(sides[direction], int(width), fewest - 1, budget, rng)
        if station is None:
            width = min(width * WIDENING, float(MOST_WIDTH)) if direction else width
            direction = 1 - direction
        else:
            sequence = in_order_of_stations(sequence, -station if direction else station)
            fewest = len(np.unique(station))
    state.sequence = sequence
    return state
