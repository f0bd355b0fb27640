"""Ruin and recreate: the tasks of a few neighbouring stations are assigned anew, again and again.

Method: the stations of a random window are emptied and filled again, from the front or the back, by the
best of a limited number of maximal loads with blurred values. The new window is kept when it has fewer
stations, or as many and its full stations are about as full; so idle time is pushed along the line until
a station is superfluous. Uses its whole share unless the bin-packing bound is met.

Source: G. Schrimpf, J. Schneider, H. Stamm-Wilbrandt, G. Dueck, Record breaking optimization results
using the ruin and recreate principle, 2000; K. Fleszar, K. S. Hindi, An enumerative heuristic and
reduction methods for the assembly line balancing problem, 2003 (loads).

Complexity: O(n + L (l + a)) per station of the window for L loads of l tasks and a available tasks.
"""

import numpy as np
from numba import njit

LEAST_WINDOW = 2  # tunable: int 2..10
MOST_WINDOW = 6  # tunable: int 2..50
LOADS = 100  # tunable: int 1..2000
NOISE = 0.2  # tunable: float 0.0..2.0
TOLERANCE = 0.02  # tunable: float 0.0..1.0
CHUNK_WINDOWS = 4  # windows rebuilt by one kernel call


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
def first_fit(sequence, capacity, times, graph, station, load):
    """Station of every task of a topological order, load of every station; the number of stations."""
    _, _, first_before, before = graph
    used = 0
    for task in sequence:
        place = 0
        for k in range(first_before[task], first_before[task + 1]):
            place = max(place, station[before[k]])
        while place < used and load[place] + times[task] > capacity:
            place += 1
        if place == used:
            load[place] = 0
            used += 1
        load[place] += times[task]
        station[task] = place
    return used


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


def in_order_of_stations(sequence, station):
    """The tasks station by station, within one in the order of the topological order `sequence`."""
    return sequence[np.argsort(station[sequence], kind="stable")]


# exchangeable: window-value
@njit(cache=True)
def window_value(load, capacity):
    """What a station of a rebuilt window is worth; the sum over the window is raised."""
    return (load / capacity) ** 2


@njit(cache=True)
def rebuild(
    windows,
    low_size,
    high_size,
    noise,
    tolerance,
    capacity,
    times,
    fore,
    back,
    station,
    load,
    used,
    work,
    rng,
):
    """Rebuild random windows; stops early when a station is saved; returns stations saved and loads tried."""
    loads, sizes = work
    n = times.size
    value = np.empty(n, np.float64)
    order = np.empty(n, np.int64)
    is_done = np.empty(n, np.bool_)
    tried = 0
    for _ in range(windows):
        length = min(used, low_size + int(rng.random() * (high_size - low_size + 1)))
        first = int(rng.random() * (used - length + 1))
        left = 0
        for task in range(n):
            is_done[task] = station[task] < first or station[task] >= first + length
            left += not is_done[task]
            value[task] = times[task] * (1.0 + noise * rng.random())
        ranking = np.argsort(-value)
        is_forward = rng.random() < 0.5
        graph, dominates = fore if is_forward else back
        before = 0.0
        for place in range(first, first + length):
            before += window_value(load[place], capacity)
        after, done, stations = 0.0, 0, 0
        ends = np.zeros(length + 1, np.int64)
        while done < left and stations < length:
            done, steps = fill_station(
                ranking, value, capacity, times, graph, is_done, dominates, loads, sizes, order, done
            )
            tried += steps
            stations += 1
            ends[stations] = done
            total = 0
            for i in range(ends[stations - 1], done):
                total += times[order[i]]
            after += window_value(total, capacity)
        if done < left or (stations == length and after < before - tolerance * rng.random()):
            continue
        for k in range(stations):
            place = first + k if is_forward else first + stations - 1 - k
            load[place] = 0
            for i in range(ends[k], ends[k + 1]):
                station[order[i]] = place
                load[place] += times[order[i]]
        if stations < length:
            return length - stations, tried
    return 0, tried


def run(env_data, state, calc_makespan_fn):
    """Rebuild windows of `state` until the share is spent or the bound is met."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    n = times.size
    bound = least_stations(times, capacity)
    order = np.array(state.sequence, dtype=np.int32)
    station, load = np.empty(n, np.int64), np.empty(n, np.int64)
    fewest = first_fit(order, capacity, times, graph, station, load)
    budget.charge(1)
    follows = follower_matrix(graph)
    backward = reversed_graph(graph)
    fore = graph, dominance_matrix(times, graph, follows)
    back = backward, dominance_matrix(times, backward, np.ascontiguousarray(follows.T))
    work = np.empty((LOADS, n), np.int64), np.empty(LOADS, np.int64)
    while fewest > bound and not budget.exhausted():
        saved, tried = rebuild(
            CHUNK_WINDOWS,
            LEAST_WINDOW,
            max(LEAST_WINDOW, MOST_WINDOW),
            NOISE,
            TOLERANCE,
            capacity,
            times,
            fore,
            back,
            station,
            load,
            fewest,
            work,
            rng,
        )
        budget.charge(1 + tried)
        if saved:
            order = in_order_of_stations(order, station)
            fewest = first_fit(order, capacity, times, graph, station, load)
    state.sequence = in_order_of_stations(order, station)
    return state
