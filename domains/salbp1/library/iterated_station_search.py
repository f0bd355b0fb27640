"""Iterated local search: shake a few stations, descend by shifts and swaps, keep what is no worse.

Method: the line is held as a station for each task. A kick makes some random feasible shifts and swaps;
descent by shifts and by random swaps raises the sum of squared loads, which empties stations. The result
replaces the line when its sum is not lower by more than a small tolerance; an empty station is closed.
Uses its whole share.

Source: H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003; A. Scholl, S. Voss, Simple
assembly line balancing: heuristic approaches, 1996 (shifts and swaps).

Complexity: O(n (w + s) d) per kick for n tasks, windows of w stations, s swaps per task, d relations of a
task.
"""

import numpy as np
from numba import njit

KICK_MOVES = 4  # tunable: int 1..200
SWAPS_PER_TASK = 10  # tunable: int 1..500
TOLERANCE = 0.05  # tunable: float 0.0..2.0
CHUNK_TRIALS = 100_000  # moves tried by one kernel call


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
def station_window(task, besides, station, used, graph):
    """First and last station where a task may stand as things are; the task `besides` is left out."""
    first_after, after, first_before, before = graph
    low, high = 0, used - 1
    for k in range(first_before[task], first_before[task + 1]):
        if before[k] != besides:
            low = max(low, station[before[k]])
    for k in range(first_after[task], first_after[task + 1]):
        if after[k] != besides:
            high = min(high, station[after[k]])
    return low, high


@njit(cache=True)
def may_swap(first, second, station, used, graph):
    """Whether two tasks of different stations, the first one's earlier, may change places."""
    first_after, after, _, _ = graph
    is_successor = False
    for k in range(first_after[first], first_after[first + 1]):
        is_successor = is_successor or after[k] == second
    high = station_window(first, second, station, used, graph)[1]
    low = station_window(second, first, station, used, graph)[0]
    return not is_successor and station[second] <= high and station[first] >= low


def in_order_of_stations(sequence, station):
    """The tasks station by station, within one in the order of the topological order `sequence`."""
    return sequence[np.argsort(station[sequence], kind="stable")]


@njit(cache=True)
def swap_if(first, second, is_any, capacity, times, graph, station, load, used):
    """Swap two tasks if feasible and, unless `is_any`, if that raises the sum of squared loads."""
    if station[first] > station[second]:
        first, second = second, first
    low, high = station[first], station[second]
    shift = times[first] - times[second]
    if low == high or load[high] + shift > capacity or load[low] - shift > capacity:
        return False
    if not is_any and shift * (load[high] - load[low] + shift) <= 0:
        return False
    if not may_swap(first, second, station, used, graph):
        return False
    station[first], station[second] = high, low
    load[high] += shift
    load[low] -= shift
    return True


# exchangeable: kick
@njit(cache=True)
def kick_target(low, high, here, draw):
    """The station a kicked task tries: one in low..high; `draw` is uniform on [0, 1)."""
    return low + int(draw * (high - low + 1))


@njit(cache=True)
def kick(moves, capacity, times, graph, station, load, used, rng):
    """Make about `moves` random feasible shifts or swaps."""
    n = times.size
    for _ in range(20 * moves):
        first = int(rng.random() * n)
        if rng.random() < 0.5:
            moves -= swap_if(first, int(rng.random() * n), True, capacity, times, graph, station, load, used)
        else:
            low, high = station_window(first, -1, station, used, graph)
            place = kick_target(low, high, station[first], rng.random())
            if place != station[first] and load[place] + times[first] <= capacity:
                load[station[first]] -= times[first]
                load[place] += times[first]
                station[first] = place
                moves -= 1
        if moves <= 0:
            return


@njit(cache=True)
def descend(swaps_per_task, capacity, times, graph, station, load, used, rng):
    """Shifts to the best station and random swaps until a round brings nothing; the moves tried."""
    n = times.size
    tried = 0
    has_moved = True
    while has_moved:
        has_moved = False
        start = int(rng.random() * n)
        for i in range(n):
            task = (start + i) % n
            here, time = station[task], times[task]
            low, high = station_window(task, -1, station, used, graph)
            best, best_gain = here, 0
            for place in range(low, high + 1):
                gain = load[place] - load[here] + time
                if place != here and load[place] + time <= capacity and gain > best_gain:
                    best, best_gain = place, gain
            tried += 1 + (high - low) // 4
            if best != here and time > 0:
                load[here] -= time
                load[best] += time
                station[task] = best
                has_moved = True
        for _ in range(n * swaps_per_task):
            first, second = int(rng.random() * n), int(rng.random() * n)
            if swap_if(first, second, False, capacity, times, graph, station, load, used):
                has_moved = True
        tried += n * swaps_per_task
    return tried


@njit(cache=True)
def square_sum(load, used, capacity):
    """Sum of squared loads in units of the squared cycle time."""
    total = 0.0
    for place in range(used):
        total += (load[place] / capacity) ** 2
    return total


@njit(cache=True)
def search(trials, moves, swaps_per_task, tolerance, capacity, times, graph, station, load, used, rng):
    """Kick and descend until about `trials` moves were tried or a station is empty; the moves tried."""
    kept_station, kept_load = station.copy(), load.copy()
    value = square_sum(load, used, capacity)
    tried = 0
    while tried < trials:
        kick(moves, capacity, times, graph, station, load, used, rng)
        tried += descend(swaps_per_task, capacity, times, graph, station, load, used, rng)
        for place in range(used):
            if load[place] == 0:
                return tried
        found = square_sum(load, used, capacity)
        if found >= value - tolerance * rng.random():
            value = found
            kept_station[:] = station
            kept_load[:] = load
        else:
            station[:] = kept_station
            load[:] = kept_load
    return tried


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share is spent or the bound is met."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    bound = least_stations(times, capacity)
    sequence = np.array(state.sequence, dtype=np.int32)
    station, load = np.empty(times.size, np.int64), np.empty(times.size, np.int64)
    fewest = first_fit(sequence, capacity, times, graph, station, load)
    budget.charge(1)
    while fewest > bound and not budget.exhausted():
        tried = search(
            CHUNK_TRIALS,
            KICK_MOVES,
            SWAPS_PER_TASK,
            TOLERANCE,
            capacity,
            times,
            graph,
            station,
            load,
            fewest,
            rng,
        )
        budget.charge(1 + tried // (5 * times.size))
        if (load[:fewest] == 0).any():
            sequence = in_order_of_stations(sequence, station)
            fewest = first_fit(sequence, capacity, times, graph, station, load)
    state.sequence = in_order_of_stations(sequence, station)
    return state
