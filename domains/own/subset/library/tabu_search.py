"""Tabu search: the best of some random changes, except that an item does not change back soon.

Method: each step scores SAMPLE random flips or exchanges and makes the best, even if it loses; the items that
changed stay as they are for TENURE to twice as many steps unless that gives a new best. Uses its whole share.
Source: F. Glover, "Tabu search, part I" (1989).
Complexity: SAMPLE scores per step. Work units: one per score.
"""

import numpy as np
from parts.changes import neighbour

SAMPLE = 30  # tunable: int 2..300
TENURE = 8  # tunable: int 1..100


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    values = np.array(state.sequence, dtype=np.int32)
    score = calc_makespan_fn(state)
    best, best_score = values, score
    barred = np.zeros(values.size, dtype=np.int64)
    step = 0
    while not budget.exhausted():
        step += 1
        chosen, chosen_score = None, None
        for _ in range(SAMPLE):
            if budget.exhausted():
                break
            state.sequence = neighbour(values, env_data)
            changed = calc_makespan_fn(state)
            is_barred = (barred[state.sequence != values] >= step).any()
            if (not is_barred or changed < best_score) and (chosen is None or changed < chosen_score):
                chosen, chosen_score = state.sequence, changed
        if chosen is None:
            continue
        barred[chosen != values] = step + TENURE + int(rng.integers(TENURE + 1))
        values, score = chosen, chosen_score
        if score < best_score:
            best, best_score = values, score
    state.sequence = best.copy()
    return state
