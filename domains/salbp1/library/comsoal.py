"""Random sampling of lines (COMSOAL): the shortest of many is returned.

Method: stations are filled one by one with a random available task that fits; the draw is biased by the
task's time. Each line is a sample, built from the start or from the end; sampling stops at the
bin-packing bound.

Source: A. L. Arcus, COMSOAL: a computer method of sequencing operations for assembly lines, 1966.

Complexity: O(n²) per line for n tasks.
"""

import numpy as np
from parts.generic.tries import best_built
from parts.line_graph import least_stations, line_data, reversed_graph
from parts.stations import greedy_line

SAMPLES = 200  # tunable: int 1..10000
BIAS = 1.0  # tunable: float 0.0..5.0


# exchangeable: draw-keys
def draw_keys(times, capacity, bias, rng):
    """Random priorities: a longer task is more likely to come first."""
    odds = (times / capacity + 0.01) ** bias
    return np.log(1.0 - rng.random(times.size)) / odds


def run(env_data, state, calc_makespan_fn):
    """Give `state` the shortest of at most SAMPLES random lines."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    bound = least_stations(times, capacity)
    sides = graph, reversed_graph(graph)
    sequence = np.empty(times.size, np.int32)

    def lines():
        for sample in range(SAMPLES):
            keys = draw_keys(times, capacity, BIAS, rng)
            stations = greedy_line(keys, capacity, times, sides[sample % 2], sequence)
            yield sequence[:: 1 - 2 * (sample % 2)].copy(), stations

    state.sequence = best_built(lines(), budget, bound)
    return state
