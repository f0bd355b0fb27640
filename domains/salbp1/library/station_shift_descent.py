"""Descent by shifts: single tasks move to other stations so that full stations become fuller.

Method: the line is held as a station for each task. A task may move to any station between those of its
predecessors and successors that has room. The score (number of stations) is flat, so the sum of squared
loads is raised instead: it pushes idle time into few stations until one is empty. Steps to the best shift
of a task, tasks in turn from a random one, until no task can gain.

Source: A. Scholl, C. Becker, State-of-the-art exact and heuristic solution procedures for simple assembly
line balancing, 2006 (shifts); P. Hansen, A. Hertz, J. Kuplinsky, Bounded vertex colorings of graphs, 1993
(squares).

Complexity: O(w + d) per task with d relations and a window of w stations.
"""

from numba import njit
from parts.stations import in_order_of_stations, open_line, station_window

MOST_SWEEPS = 100  # tunable: int 1..10000
CHUNK_SWEEPS = 5  # sweeps over all tasks in one kernel call


# exchangeable: shift-gain
@njit(cache=True)
def shift_gain(time, load_from, load_to, capacity):
    """What a shift of a task is worth, above 0 is better; loads are those before the move."""
    return 2.0 * time * (load_to - load_from + time)


@njit(cache=True)
def shift_sweeps(sweeps, capacity, times, graph, station, load, used, rng):
    """Give each task its best shift, `sweeps` times over; returns sweeps made and whether stuck."""
    for sweep in range(sweeps):
        has_moved = False
        start = int(rng.random() * times.size)
        for i in range(times.size):
            task = (start + i) % times.size
            here = station[task]
            low, high = station_window(task, -1, station, used, graph)
            best, best_gain = here, 0.0
            for place in range(low, high + 1):
                if place != here and load[place] + times[task] <= capacity:
                    gain = shift_gain(times[task], load[here], load[place], capacity)
                    if gain > best_gain:
                        best, best_gain = place, gain
            if best != here:
                load[here] -= times[task]
                load[best] += times[task]
                station[task] = best
                has_moved = True
        if not has_moved:
            return sweep + 1, True
    return sweeps, False


def run(env_data, state, calc_makespan_fn):
    """Descend from `state`; the line is read again by first fit, which closes empty stations."""
    budget, rng = env_data["budget"], env_data["rng"]
    (capacity, times, graph), sequence, station, load, used = open_line(env_data, state)
    sweeps, is_stuck = 0, False
    while not is_stuck and sweeps < MOST_SWEEPS and not budget.exhausted():
        made, is_stuck = shift_sweeps(CHUNK_SWEEPS, capacity, times, graph, station, load, used, rng)
        sweeps += made
        budget.charge(made)
    state.sequence = in_order_of_stations(sequence, station)
    return state
