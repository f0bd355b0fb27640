"""Descent by swaps: two tasks of different stations change places so that full stations become fuller.

Method: the line is held as a station for each task. Two unrelated tasks may change places where both stay
between their predecessors and successors and both stations keep within the cycle time. The sum of squared
loads is raised until no swap can, which concentrates idle time so that a shift or the first-fit reading
can empty a station.

Source: J. Rachamadugu, B. Talbot, Improving the equality of workload assignments in assembly lines, 1991;
A. Scholl, S. Voss, Simple assembly line balancing: heuristic approaches, 1996 (shifts and swaps).

Complexity: O(d) per pair of tasks with d relations, O(n²) pairs per sweep.
"""

import numpy as np
from numba import njit

MOST_SWEEPS = 50  # tunable: int 1..10000
CHUNK_PAIRS = 40_000  # pairs tried in one kernel call


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


# exchangeable: swap-gain
@njit(cache=True)
def swap_gain(difference, load_low, load_high, capacity):
    """What a swap is worth, above 0 is better; `difference` is the time that goes to the higher station."""
    return 2.0 * difference * (load_high - load_low + difference)


@njit(cache=True)
def swap_pairs(start, pairs, capacity, times, graph, station, load, used):
    """Try `pairs` pairs in a row, from number `start` of n², and swap where it pays; the number of swaps."""
    n = times.size
    swaps = 0
    for number in range(start, min(start + pairs, n * n)):
        first, second = number // n, number % n
        if station[first] >= station[second]:
            continue
        low, high = station[first], station[second]
        difference = times[first] - times[second]
        if load[high] + difference > capacity or load[low] - difference > capacity:
            continue
        gain = swap_gain(difference, load[low], load[high], capacity)
        if gain > 0.0 and may_swap(first, second, station, used, graph):
            station[first], station[second] = high, low
            load[high] += difference
            load[low] -= difference
            swaps += 1
    return swaps


def run(env_data, state, calc_makespan_fn):
    """Descend from `state`; the line is read again by first fit, which closes empty stations."""
    budget, capacity = env_data["budget"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    sequence = np.array(state.sequence, dtype=np.int32)
    station, load = np.empty(times.size, np.int64), np.empty(times.size, np.int64)
    used = first_fit(sequence, capacity, times, graph, station, load)
    pairs = times.size**2
    sweeps, start, swaps = 0, 0, 0
    while sweeps < MOST_SWEEPS and not budget.exhausted():
        swaps += swap_pairs(start, CHUNK_PAIRS, capacity, times, graph, station, load, used)
        budget.charge(1 + min(CHUNK_PAIRS, pairs) // (10 * times.size))
        start += CHUNK_PAIRS
        if start >= pairs:
            if swaps == 0:
                break
            sweeps, start, swaps = sweeps + 1, 0, 0
    state.sequence = in_order_of_stations(sequence, station)
    return state
