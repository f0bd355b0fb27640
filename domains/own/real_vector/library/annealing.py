"""Simulated annealing: steps of single numbers that may lose, less and less often.

Method: a random number takes a normal step; one that loses d is taken with probability exp(-d / T). T falls
from HOT to COLD times the usual change of score, and the steps from WIDE to FINE of the ranges, as the
share is used up. Uses its whole share; gives the best vector met.
Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing" (1983).
Complexity: O(n) and one score per step. Work units: one per score.
"""

import math

import numpy as np

HOT = 0.3  # tunable: float 0.01..5.0
COLD = 0.0005  # tunable: float 0.0000001..0.1
WIDE = 0.2  # tunable: float 0.01..1.0
FINE = 0.0005  # tunable: float 0.0000001..0.01
SAMPLE = 40


# exchangeable: cooling
def temperature(remaining):
    """Temperature in units of the usual change of score; `remaining` falls from 1 to 0."""
    return COLD * (HOT / COLD) ** remaining


def run(env_data, state, calc_makespan_fn):
    rng, budget, after = env_data["rng"], env_data["budget"], env_data["score_of_move"]
    low, high = env_data["solution_low"], env_data["solution_high"]
    span = high - low
    x = np.clip(np.array(state.metadata["x"], dtype=np.float64), low, high)
    state.metadata["x"] = x
    score = calc_makespan_fn(state)
    best, best_score, changes, unit = x.copy(), score, [], 1.0
    while not budget.exhausted():
        left = budget.remaining()
        i = int(rng.integers(x.size))
        value = x[i] + FINE * (WIDE / FINE) ** left * span[i] * rng.normal()
        value = min(max(value, low[i]), high[i])
        changed = after(state, score, i, value)
        if len(changes) < SAMPLE and 0.0 < abs(changed - score) < 1e29:
            changes.append(abs(changed - score))
            unit = sum(changes) / len(changes)
        heat = unit * temperature(left)
        if changed <= score or rng.random() < math.exp(max((score - changed) / heat, -700.0)):
            x[i], score = value, changed
            if score < best_score:
                best, best_score = x.copy(), score
    state.metadata["x"] = best
    return state
