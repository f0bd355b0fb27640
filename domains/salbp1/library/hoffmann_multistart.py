"""Hoffmann's enumeration many times, with other values of the loads and in all directions.

Method: each line is built station by station from the best of a limited number of maximal loads. The
value of a load adds up, over its tasks, the time, a fraction of the positional weight and of the number
of followers, less a cost per task; the fractions are drawn anew for each line, and so are the direction
and the number of loads tried, which grows slowly. The operator stops at the bin-packing bound, or when
PATIENCE lines brought nothing.

Source: E. C. Sewell, S. H. Jacobson, A branch, bound, and remember algorithm for the simple assembly line
balancing problem, 2012 (modified Hoffmann heuristic); J. Sternatz, Enhanced multi-Hoffmann heuristic for
efficiently solving real-world assembly line balancing problems in automotive industry, 2014.

Complexity: O(L (l + a)) per station for L loads of l tasks and a available tasks.
"""

import numpy as np
from parts.line_graph import follower_matrix, least_stations, line_data, reversed_graph
from parts.station_loads import dominance_matrix, hoffmann_line, load_value

PATIENCE = 120  # tunable: int 3..5000
FIRST_LOADS = 50  # tunable: int 1..500
MOST_LOADS = 2000  # tunable: int 50..5000
WEIGHT_FACTOR = 0.02  # tunable: float 0.0..0.2
COUNT_FACTOR = 0.05  # tunable: float 0.0..0.5
TASK_COST = 0.3  # tunable: float 0.0..2.0
NOISE = 0.05  # tunable: float 0.0..0.5
CHUNK_TASKS = 400_000  # loads of one enumeration times tasks of the line


def run(env_data, state, calc_makespan_fn):
    """Replace `state` by the shortest line built, if it is shorter."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    bound = least_stations(times, capacity)
    fewest = calc_makespan_fn(state)
    follows = follower_matrix(graph)
    sides = []
    for side, kin in ((graph, follows), (reversed_graph(graph), np.ascontiguousarray(follows.T))):
        sides.append((side, kin, dominance_matrix(times, side, kin)))
    most = max(1, min(MOST_LOADS, CHUNK_TASKS // times.size))
    failures, line_number = 0, 0
    while fewest > bound and failures < PATIENCE and not budget.exhausted():
        factors = rng.random(4) * (line_number > 2)
        drawn = []
        for side, kin, dominates in sides:
            value = load_value(
                times,
                kin,
                capacity,
                WEIGHT_FACTOR * factors[0],
                COUNT_FACTOR * factors[1],
                TASK_COST * factors[2],
            )
            blurred = value * (1.0 + NOISE * factors[3] * rng.random(times.size))
            drawn.append((side, value, np.argsort(-blurred, kind="stable"), dominates))
        rows = min(most, int(FIRST_LOADS * 2 ** (line_number / 12.0)) if line_number < 120 else most)
        work = np.empty((rows, times.size), np.int64), np.empty(rows, np.int64)
        line = hoffmann_line(drawn, line_number % 3, capacity, times, work, budget)
        line_number += 1
        failures += 1
        if line is not None and line[1] < fewest:
            state.sequence, fewest = line
            failures = 0
    return state
