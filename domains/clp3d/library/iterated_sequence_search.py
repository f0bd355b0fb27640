"""Iterated local search on the sequence.

Method: a descent by random moves that stops after PATIENCE failures; then the best sequence is shaken by
KICKS random moves and descended from again. The result is taken when it is not worse. Uses its whole
share.

Source: H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003.

Complexity: one decoding per neighbour.
"""

import numpy as np

PATIENCE = 400  # tunable: int 20..20000
KICKS = 4  # tunable: int 1..50
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
    """Search from `state` until the share is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    best = np.array(state.sequence, dtype=np.int32)
    lowest = calc_makespan_fn(state)
    current, score, failures = best, lowest, 0
    while not budget.exhausted():
        if failures >= PATIENCE:
            if score <= lowest:
                best, lowest = current, score
            current = best
            for _ in range(KICKS):
                current = moved(current, REACH, rng)
            state.sequence = current
            score, failures = calc_makespan_fn(state), 0
        state.sequence = moved(current, REACH, rng)
        value = calc_makespan_fn(state)
        budget.charge(1)
        failures = 0 if value < score else failures + 1
        if value <= score:
            current, score = state.sequence, value
    state.sequence = current if score <= lowest else best
    return state
