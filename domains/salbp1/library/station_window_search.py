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
from parts.line_graph import follower_matrix, reversed_graph
from parts.station_loads import dominance_matrix, fill_station
from parts.stations import first_fit, in_order_of_stations, open_bounded_line

LEAST_WINDOW = 2  # tunable: int 2..10
MOST_WINDOW = 6  # tunable: int 2..50
LOADS = 100  # tunable: int 1..2000
NOISE = 0.2  # tunable: float 0.0..2.0
TOLERANCE = 0.02  # tunable: float 0.0..1.0
CHUNK_WINDOWS = 4  # windows rebuilt by one kernel call


# exchangeable: window-value
@njit(cache=True)
def window_value(load, capacity):
    """What a station of a rebuilt window is worth; the sum over the window is raised."""
    return (load / capacity) ** 2


@njit(cache=True)
def rebuild(
    windows, low_size, high_size, noise, tolerance, capacity, times, fore, back, station, load, used, work,
    rng,
):  # fmt: skip
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
    budget, rng = env_data["budget"], env_data["rng"]
    (capacity, times, graph), order, station, load, fewest, bound = open_bounded_line(env_data, state)
    n = times.size
    follows = follower_matrix(graph)
    backward = reversed_graph(graph)
    fore = graph, dominance_matrix(times, graph, follows)
    back = backward, dominance_matrix(times, backward, np.ascontiguousarray(follows.T))
    work = np.empty((LOADS, n), np.int64), np.empty(LOADS, np.int64)
    while fewest > bound and not budget.exhausted():
        saved, tried = rebuild(
            CHUNK_WINDOWS, LEAST_WINDOW, max(LEAST_WINDOW, MOST_WINDOW), NOISE, TOLERANCE, capacity, times,
            fore, back, station, load, fewest, work, rng,
        )  # fmt: skip
        budget.charge(1 + tried)
        if saved:
            order = in_order_of_stations(order, station)
            fewest = first_fit(order, capacity, times, graph, station, load)
    state.sequence = in_order_of_stations(order, station)
    return state
