"""Random local search on the sequence: a task is moved within its precedence slack, every neighbour is
decoded.

Method: a random task is put at another position between its last predecessor and its first successor. The
neighbour is kept when its line has no more stations, and among equals when the last stations hold less.
The search stops after PATIENCE neighbours without a shorter line.

Source: Y. J. Kim, Y. K. Kim, Y. Cho, A heuristic-based genetic algorithm for workload smoothing in
assembly lines, 1998 (moves on precedence-feasible sequences).

Complexity: O(n + m) per neighbour for n tasks and m relations, apart from the reading of the line.
"""

import numpy as np
from numba import njit
from parts.line_graph import line_data
from parts.sequences.entry_move import move_entry
from parts.sequences.precedence import free_range
from parts.stations import first_fit

PATIENCE = 3000  # tunable: int 100..100000
REACH = 0.3  # tunable: float 0.01..1.0
CHUNK_DECODES = 100  # neighbours of one kernel call


# exchangeable: load-measure
@njit(cache=True)
def load_measure(load, used, capacity):
    """Secondary score of a line, lower is better: how little idle time is gathered in single stations."""
    total = 0.0
    for place in range(used):
        total -= (load[place] / capacity) ** 2
    return total


@njit(cache=True)
def try_moves(sequence, decodes, reach, capacity, times, graph, station, load, fewest, measure, rng):
    """Try `decodes` moves of one entry by at most `reach` places; returns stations and measure of the line
    kept.
    """
    after, before = graph[:2], graph[2:]
    for _ in range(decodes):
        source = int(rng.random() * sequence.size)
        low, high = free_range(sequence, source, reach, before, after)
        target = low + int(rng.random() * (high - low + 1))
        move_entry(sequence, source, target)
        used = first_fit(sequence, capacity, times, graph, station, load)
        value = load_measure(load, used, capacity)
        if used < fewest or (used == fewest and value <= measure):
            fewest, measure = used, value
        else:
            move_entry(sequence, target, source)
    return fewest, measure


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until nothing has become shorter for PATIENCE neighbours or the share is spent."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    sequence = np.array(state.sequence, dtype=np.int32)
    station, load = np.empty(times.size, np.int64), np.empty(times.size, np.int64)
    fewest = first_fit(sequence, capacity, times, graph, station, load)
    measure = load_measure(load, fewest, capacity)
    reach = max(1, int(REACH * times.size))
    failures = 0
    while failures < PATIENCE and not budget.exhausted():
        used, measure = try_moves(
            sequence, CHUNK_DECODES, reach, capacity, times, graph, station, load, fewest, measure, rng
        )
        budget.charge(CHUNK_DECODES)
        failures = 0 if used < fewest else failures + CHUNK_DECODES
        fewest = used
    state.sequence = sequence
    return state
