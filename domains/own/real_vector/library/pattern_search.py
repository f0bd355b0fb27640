"""Pattern search: steps along one number at a time, shorter where none helps.

Method: every number in random turn goes up and down by its step; a gain is taken at once and the step grows
by GROWTH, else it shrinks by SHRINK. Ends when all steps are below FINEST of the ranges.
Source: R. Hooke, T. A. Jeeves, "Direct search solution of numerical and statistical problems" (1961).
Complexity: 2 n scores per round. Work units: one per score.
"""

import numpy as np

FIRST = 0.1  # tunable: float 0.005..0.5
GROWTH = 1.6  # tunable: float 1.0..4.0
SHRINK = 0.5  # tunable: float 0.1..0.9
FINEST = 1e-9


def run(env_data, state, calc_makespan_fn):
    rng, budget, after = env_data["rng"], env_data["budget"], env_data["score_of_move"]
    low, high = env_data["solution_low"], env_data["solution_high"]
    span = high - low
    x = np.clip(np.array(state.metadata["x"], dtype=np.float64), low, high)
    state.metadata["x"] = x
    score = calc_makespan_fn(state)
    steps = FIRST * span
    while (steps > FINEST * span).any() and not budget.exhausted():
        for i in rng.permutation(x.size):
            has_gained = False
            for sign in (1.0, -1.0) if rng.random() < 0.5 else (-1.0, 1.0):
                if budget.exhausted():
                    return state
                value = min(max(x[i] + sign * steps[i], low[i]), high[i])
                changed = after(state, score, i, value)
                if changed < score:
                    x[i], score, has_gained = value, changed, True
                    break
            steps[i] *= GROWTH if has_gained else SHRINK
            steps[i] = min(steps[i], span[i])
    return state
