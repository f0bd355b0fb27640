"""Ranked positional weights: the line is filled by the time of each task and of all that follow it.

Method: stations are filled one by one with the available task of greatest positional weight (its own time
plus the times of all its followers) that fits. The line is built from its start and from its end, and
again a few times with blurred weights; the shortest one is returned.

Source: W. B. Helgeson, D. P. Birnie, Assembly line balancing using the ranked positional weight
technique, 1961.

Complexity: O(n²) per line for n tasks, O(n m) once for m relations.
"""

import numpy as np
from parts.line_graph import follower_matrix, line_data, reversed_graph
from parts.stations import greedy_line

RESTARTS = 10  # tunable: int 2..1000
NOISE = 0.1  # tunable: float 0.0..1.0


# exchangeable: positional-weight
def positional_weight(times, follows):
    """Weight of every task, higher comes first; row i of `follows` marks the followers of task i."""
    return times + follows @ times.astype(np.float64)


def run(env_data, state, calc_makespan_fn):
    """Give `state` the shortest of at most RESTARTS lines; the first two follow the bare weights."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    follows = follower_matrix(graph)
    sides = (graph, follows), (reversed_graph(graph), np.ascontiguousarray(follows.T))
    sequence = np.empty(times.size, np.int32)
    fewest = times.size + 1
    for restart in range(RESTARTS):
        side, kin = sides[restart % 2]
        weight = positional_weight(times, kin)
        if restart > 1:
            weight = weight * (1.0 + NOISE * rng.random(times.size))
        stations = greedy_line(weight, capacity, times, side, sequence)
        budget.charge(1)
        if stations < fewest:
            fewest = stations
            state.sequence = sequence[:: 1 - 2 * (restart % 2)].copy()
        if budget.exhausted():
            break
    return state
