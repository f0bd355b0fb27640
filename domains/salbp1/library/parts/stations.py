"""Lines as stations of tasks: building them, and where a task may go."""

import numpy as np
from numba import njit
from parts.line_graph import least_stations, line_data
from parts.sequences.precedence import count_waits, release


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


def in_order_of_stations(sequence, station):
    """The tasks station by station, within one in the order of the topological order `sequence`."""
    return sequence[np.argsort(station[sequence], kind="stable")]


@njit(cache=True)
def greedy_line(priority, capacity, times, graph, sequence):
    """Fill stations one by one with the available task of highest priority that fits; their number."""
    first_after, after, first_before, _ = graph
    n = times.size
    waiting = np.empty(n, np.int64)
    available = np.empty(n, np.int64)
    count = count_waits(first_before, waiting, available)
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
        count = release(task, first_after, after, waiting, available, count)
    return stations


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


def open_line(env_data, state):
    """What a search begins with: (cycle time, times, graph), the sequence, and the line of first fit.

    The line is the station of every task, the load of every station, both int64 `(n,)`, and their number.
    """
    times, graph = line_data(env_data)
    capacity, sequence = env_data["cycle_time"], np.array(state.sequence, dtype=np.int32)
    station, load = np.empty(times.size, np.int64), np.empty(times.size, np.int64)
    used = first_fit(sequence, capacity, times, graph, station, load)
    return (capacity, times, graph), sequence, station, load, used


def open_bounded_line(env_data, state):
    """The same and, as the last, the least number of stations that there may be; charges a unit of work."""
    problem, *line = open_line(env_data, state)
    env_data["budget"].charge(1)
    return problem, *line, least_stations(problem[1], problem[0])
