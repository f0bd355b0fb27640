"""Random local search on the sequence by swaps.

Method: two random items that stand at most REACH of the length apart change places. Every neighbour is
decoded and kept when its score is not worse. The search stops after PATIENCE neighbours without gain.

Source: C. R. Reeves, Hybrid genetic algorithms for bin-packing and related problems, 1996 (orders as
encoding).

Complexity: one decoding per neighbour.
"""

import numpy as np

PATIENCE = 2000  # tunable: int 100..100000
REACH = 0.5  # tunable: float 0.01..1.0


# exchangeable: sequence-move
def moved(sequence, reach, rng):
    """A copy of `sequence` with two entries exchanged that stand at most `reach` (a fraction of the length)
    apart.
    """
    size = sequence.size
    source = int(rng.integers(size))
    span = max(1, int(reach * size))
    target = int(np.clip(source + rng.integers(-span, span + 1), 0, size - 1))
    changed = sequence.copy()
    changed[source], changed[target] = sequence[target], sequence[source]
    return changed


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
