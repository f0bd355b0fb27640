"""Random local search on the sequence by insertions.

Method: a random item is put at another place of the sequence, at most REACH of its length away. Every
neighbour is decoded and kept when its score is not worse. The search stops after PATIENCE neighbours
without gain.

Source: A. Lodi, S. Martello, D. Vigo, Heuristic algorithms for the three-dimensional bin packing problem,
2002; C. R. Reeves, Hybrid genetic algorithms for bin-packing and related problems, 1996 (orders as
encoding).

Complexity: one decoding per neighbour.
"""

import numpy as np

PATIENCE = 2000  # tunable: int 100..100000
REACH = 1.0  # tunable: float 0.01..1.0


# exchangeable: sequence-move
def moved(sequence, reach, rng):
    """A copy of `sequence` with one entry moved at most `reach` (a fraction of the length) away."""
    size = sequence.size
    source = int(rng.integers(size))
    span = max(1, int(reach * size))
    target = int(np.clip(source + rng.integers(-span, span + 1), 0, size - 1))
    return np.insert(np.delete(sequence, source), target, sequence[source])


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until nothing has improved for PATIENCE neighbours or the share is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    current = np.array(state.sequence, dtype=np.int32)
    score = calc_makespan_fn(state)
    failures = 0
    while failures < PATIENCE and not budget.exhausted():
        state.sequence = moved(current, REACH, rng)
        value = calc_makespan_fn(state)
        failures = 0 if value < score else failures + 1
        if value <= score:
            current, score = state.sequence, value
    state.sequence = current
    return state
