"""Simulated annealing of any array in ``state.sequence``; takers bring ``neighbour(values, env_data)``."""

import math

import numpy as np
from parts.taker import neighbour

HOT = 0.5  # tunable: float 0.02..5.0
COLD = 0.005  # tunable: float 0.00005..0.1
SAMPLE = 40


# exchangeable: cooling
def temperature(remaining):
    """Temperature in units of the usual change of score; `remaining` falls from 1 to 0."""
    return COLD * (HOT / COLD) ** remaining


def usual_change(values, score, state, env_data, decode):
    """Mean absolute change of score among SAMPLE random neighbours; 1 where nothing changes it."""
    changes = []
    for _ in range(SAMPLE):
        if env_data["budget"].exhausted():
            break
        state.sequence = neighbour(values, env_data)
        changes.append(abs(decode(state) - score))
    known = [change for change in changes if 0.0 < change < 1e29]
    return sum(known) / len(known) if known else 1.0


def annealed(env_data, state, decode):
    """The state with the best array met; changes that lose are taken less and less often."""
    rng, budget = env_data["rng"], env_data["budget"]
    values = np.array(state.sequence, dtype=np.int32)
    score = decode(state)
    best, best_score = values, score
    unit = usual_change(values, score, state, env_data, decode)
    while not budget.exhausted():
        heat = unit * temperature(budget.remaining())
        state.sequence = neighbour(values, env_data)
        changed = decode(state)
        if changed <= score or rng.random() < math.exp(max((score - changed) / heat, -700.0)):
            values, score = state.sequence, changed
            if score < best_score:
                best, best_score = values, score
    state.sequence = best.copy()
    return state
