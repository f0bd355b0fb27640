"""Random local search on the sequence: entries are moved, every neighbour is decoded.

Method: a random entry is put at another random position of its neighbourhood in the sequence. The
neighbour is kept when its makespan is not longer. The search stops after PATIENCE neighbours without gain.

Source: C. Bierwirth, A generalized permutation approach to job shop scheduling with genetic algorithms, 1995
(operation-based sequences and their moves).

Complexity: one decoding, O(N) for N operations, per neighbour.
"""

import numpy as np

PATIENCE = 3000  # tunable: int 100..100000
REACH = 0.2  # tunable: float 0.01..1.0


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
    makespan = calc_makespan_fn(state)
    failures = 0
    while failures < PATIENCE and not budget.exhausted():
        state.sequence = moved(current, REACH, rng)
        value = calc_makespan_fn(state)
        failures = 0 if value < makespan else failures + 1
        if value <= makespan:
            current, makespan = state.sequence, value
    state.sequence = current
    return state
