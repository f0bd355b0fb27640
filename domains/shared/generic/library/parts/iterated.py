"""Iterated local search on any array in ``state.sequence``.

Takers bring ``descended(env_data, state, score)`` and ``disturbed(values, env_data)``.
"""

import numpy as np
from parts.taker import descended, disturbed


def iterated(env_data, state, decode):
    """The state with the best array met; each descent starts at a disturbed copy of it."""
    state.sequence = np.array(state.sequence, dtype=np.int32)
    score = descended(env_data, state, decode(state))
    best, best_score = state.sequence.copy(), score
    while not env_data["budget"].exhausted():
        state.sequence = disturbed(best, env_data)
        score = descended(env_data, state, decode(state))
        if score <= best_score:
            best, best_score = state.sequence.copy(), score
    state.sequence = best
    return state
