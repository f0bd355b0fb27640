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
from parts.line_graph import follower_matrix, least_stations, line_data, reversed_graph
from parts.station_loads import dominance_matrix, hoffmann_line, load_value
from parts.stations import greedy_line

LOADS = 500  # tunable: int 1..3000
TIE_WEIGHT = 0.0005  # tunable: float 0.0..0.02
CHUNK_TASKS = 400_000  # loads of one enumeration times tasks of the line


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
