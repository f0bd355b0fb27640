"""Random local search on the sequence by block moves.

Method: a run of up to REACH of the items is cut out and put in at another place, so that items which fit
together stay together. Every neighbour is decoded and kept when its score is not worse. The search stops
after PATIENCE neighbours without gain.

Source: Y. Wu, W. Li, M. Goh, R. de Souza, Three-dimensional bin packing problem with variable bin height,
2010 (orders as encoding); H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003.

Complexity: one decoding per neighbour.
"""

import numpy as np

PATIENCE = 2000  # tunable: int 100..100000
REACH = 0.3  # tunable: float 0.01..1.0


# exchangeable: sequence-move
def moved(sequence, reach, rng):
    """A copy of `sequence` with a block of up to `reach` (a fraction of the length) entries moved
    elsewhere.
    """
    size = sequence.size
    length = int(rng.integers(1, max(1, int(reach * size)) + 1))
    start = int(rng.integers(size - length + 1))
    rest = np.delete(sequence, np.arange(start, start + length))
    return np.insert(rest, int(rng.integers(rest.size + 1)), sequence[start : start + length])


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
