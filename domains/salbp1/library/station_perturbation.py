"""Perturbation of the line: random tasks move to other stations they may have, whatever the loads.

Method: some tasks are given a random station between those of their predecessors and successors. The
tasks are then read station by station, so that first fit repairs overloads by moving tasks on; the line
may become longer.

Source: A. Scholl, S. Voss, Simple assembly line balancing: heuristic approaches, 1996 (shifts); H. R.
Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003.

Complexity: O(d) per move with d relations of a task.
"""

import numpy as np
from numba import njit

MOVE_SHARE = 0.1  # tunable: float 0.01..1.0
REACH = 3  # tunable: int 1..1000


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


def in_order_of_stations(sequence, station):
    """The tasks station by station, within one in the order of the topological order `sequence`."""
    return sequence[np.argsort(station[sequence], kind="stable")]


# exchangeable: place-draw
@njit(cache=True)
def place_draw(low, high, here, reach, draw):
    """A station in low..high at most `reach` from `here`; `draw` is uniform on [0, 1)."""
    low, high = max(low, here - reach), min(high, here + reach)
    return low + int(draw * (high - low + 1))


@njit(cache=True)
def move_tasks(moves, reach, station, used, graph, rng):
    """Move random tasks, `moves` times."""
    for _ in range(moves):
        task = int(rng.random() * station.size)
        low, high = station_window(task, -1, station, used, graph)
        station[task] = place_draw(low, high, station[task], reach, rng.random())


def run(env_data, state, calc_makespan_fn):
    """Move a share of the tasks of `state`; the result may be worse."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    sequence = np.array(state.sequence, dtype=np.int32)
    station, load = np.empty(times.size, np.int64), np.empty(times.size, np.int64)
    used = first_fit(sequence, capacity, times, graph, station, load)
    moves = max(1, int(MOVE_SHARE * times.size))
    move_tasks(moves, REACH, station, used, graph, rng)
    budget.charge(1)
    state.sequence = in_order_of_stations(sequence, station)
    return state
