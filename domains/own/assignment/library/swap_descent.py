"""Descent by swaps: two items exchange their groups wherever that gains.

Method: random pairs of items of different groups; a gain is taken at once. Ends after PATIENCE times n pairs
in vain.
Source: E. Aarts, J. K. Lenstra (eds.), "Local Search in Combinatorial Optimization" (1997).
Complexity: one score per pair. Work units: one per score.
"""

import numpy as np

PATIENCE = 8.0  # tunable: float 1.0..100.0


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    groups = np.array(state.sequence, dtype=np.int32)
    state.sequence = groups
    score = calc_makespan_fn(state)
    fruitless = 0
    while fruitless < PATIENCE * groups.size and not budget.exhausted():
        i, j = rng.integers(groups.size, size=2)
        fruitless += 1
        if groups[i] == groups[j]:
            budget.charge(1)
            continue
        groups[i], groups[j] = groups[j], groups[i]
        changed = calc_makespan_fn(state)
        if changed > score:
            groups[i], groups[j] = groups[j], groups[i]
        else:
            fruitless = 0 if changed < score else fruitless
            score = changed
    return state
