"""Random local search on a sequence by its decoded score.

The file brings the neighbourhood, ``moved``.
"""

import numpy as np
from parts.taker import moved


def search_neighbours(env_data, state, calc_makespan_fn, patience, reach):
    """Search from `state` until nothing has improved for `patience` neighbours or the share is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    current = np.array(state.sequence, dtype=np.int32)
    score = calc_makespan_fn(state)
    failures = 0
    while failures < patience and not budget.exhausted():
        state.sequence = moved(current, reach, rng)
        value = calc_makespan_fn(state)
        failures = 0 if value < score else failures + 1
        if value <= score:
            current, score = state.sequence, value
    state.sequence = current
    return state
