"""Many priority rules in both directions, then mixtures of them; the shortest line is returned.

Method: stations are filled one by one with the available task of highest priority that fits. Nine rules
are tried from the start and from the end of the line: longest time, positional weight, number of
followers, of direct followers, longest path, time per latest station, earliest latest station and two
sums. Then random mixtures of the normalised rules follow until RESTARTS lines were built or the
bin-packing bound is met.

Source: F. B. Talbot, J. H. Patterson, W. V. Gehrlein, A comparative evaluation of heuristic line
balancing techniques, 1986; F. Hahn, Optimale Abstimmung bei Fliessfertigung, 1972 (longest path); A.
Otto, C. Otto, How to design effective priority rules: example of simple assembly line balancing, 2014
(mixtures, both directions).

Complexity: O(n²) per line for n tasks, O(n m) once for m relations.
"""

import numpy as np
from parts.generic.tries import best_built
from parts.line_graph import follower_matrix, least_stations, line_data, reversed_graph
from parts.stations import greedy_line

RESTARTS = 100  # tunable: int 18..5000
SHARPNESS = 3.0  # tunable: float 0.5..10.0


def longest_paths(times, follows):
    """Time of the longest chain that starts with each task."""
    path = times.astype(np.float64)
    for task in np.argsort(follows.sum(axis=1), kind="stable"):
        if follows[task].any():
            path[task] += path[follows[task]].max()
    return path


# exchangeable: rule-values
def rule_values(times, follows, direct, paths, capacity):
    """One row of priorities per rule, higher comes first."""
    weight = times + follows @ times.astype(np.float64)
    count = follows.sum(axis=1).astype(np.float64)
    latest = np.ceil(weight / capacity)
    return np.array(
        [
            times.astype(np.float64),
            weight,
            count,
            direct.astype(np.float64),
            paths,
            times * latest,
            latest,
            times / capacity + count / times.size,
            times / capacity + weight / (1.0 + weight.max()),
        ]
    )


def run(env_data, state, calc_makespan_fn):
    """Give `state` the shortest of at most RESTARTS lines."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    bound = least_stations(times, capacity)
    follows = follower_matrix(graph)
    sides = []
    for side, kin in ((graph, follows), (reversed_graph(graph), np.ascontiguousarray(follows.T))):
        paths = longest_paths(times, kin)
        sides.append((side, rule_values(times, kin, np.diff(side[0]), paths, capacity)))
    rules = len(sides[0][1])
    sequence = np.empty(times.size, np.int32)

    def lines():
        for restart in range(RESTARTS):
            side, values = sides[restart % 2]
            if restart < 2 * rules:
                priority = values[restart // 2].copy()
            else:
                spread = np.maximum(np.ptp(values, axis=1), 1e-9)
                priority = (rng.random(rules) ** SHARPNESS / spread) @ values
            stations = greedy_line(priority, capacity, times, side, sequence)
            yield sequence[:: 1 - 2 * (restart % 2)].copy(), stations

    state.sequence = best_built(lines(), budget, bound)
    return state
