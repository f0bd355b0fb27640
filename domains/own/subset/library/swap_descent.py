"""Descent by swaps: an item inside and one outside change places wherever that gains.

Method: random pairs; what does not lose is kept. Ends after PATIENCE times n pairs in vain.
Source: E. Aarts, J. K. Lenstra (eds.), "Local Search in Combinatorial Optimization" (1997).
Complexity: one score per pair. Work units: one per score.
"""

import numpy as np

PATIENCE = 8.0  # tunable: float 1.0..100.0


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    chosen = np.array(state.sequence, dtype=np.int32)
    state.sequence = chosen
    score = calc_makespan_fn(state)
    inside, outside = np.flatnonzero(chosen), np.flatnonzero(chosen == 0)
    fruitless = 0
    while inside.size and outside.size and fruitless < PATIENCE * chosen.size and not budget.exhausted():
        i, j = int(rng.integers(inside.size)), int(rng.integers(outside.size))
        chosen[inside[i]], chosen[outside[j]] = 0, 1
        changed = calc_makespan_fn(state)
        fruitless = 0 if changed < score else fruitless + 1
        if changed > score:
            chosen[inside[i]], chosen[outside[j]] = 1, 0
        else:
            inside[i], outside[j] = outside[j], inside[i]
            score = changed
    return state
