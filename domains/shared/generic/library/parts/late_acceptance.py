"""Late acceptance on any array in ``state.sequence``; the taker brings ``neighbour(values, env_data)``."""

import numpy as np
from parts.taker import neighbour

MEMORY = 100  # tunable: int 5..2000


def accepted_late(env_data, state, decode):
    """The state with the best array met; a change is taken if it is no worse than MEMORY changes ago."""
    budget = env_data["budget"]
    values = np.array(state.sequence, dtype=np.int32)
    score = decode(state)
    best, best_score = values, score
    history = [score] * MEMORY
    place = 0
    while not budget.exhausted():
        state.sequence = neighbour(values, env_data)
        changed = decode(state)
        if changed <= max(history[place], score):
            values, score = state.sequence, changed
            if score < best_score:
                best, best_score = values, score
        history[place] = min(history[place], score)
        place = (place + 1) % MEMORY
    state.sequence = best.copy()
    return state
