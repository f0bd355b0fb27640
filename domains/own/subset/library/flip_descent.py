"""Descent by flips: items come in or go out wherever that gains; pairs are exchanged where the size is given.

Method: the items in random turn, or random pairs of one inside and one outside; a gain is taken at once. Ends
when each was tried in vain.
Source: E. Aarts, J. K. Lenstra (eds.), "Local Search in Combinatorial Optimization" (1997).
Complexity: one score per attempt. Work units: one per score.
"""

import numpy as np
from parts.exchanges import exchange

PATIENCE = 3.0  # tunable: float 1.0..30.0


def run(env_data, state, calc_makespan_fn):
    rng, budget, after = env_data["rng"], env_data["budget"], env_data["score_of_move"]
    chosen = np.array(state.sequence, dtype=np.int32)
    state.sequence = chosen
    score = calc_makespan_fn(state)
    n, fruitless = chosen.size, 0
    if env_data["solution_chosen"] >= 0:
        exchange(env_data, state, score, calc_makespan_fn, PATIENCE * n)
        return state
    turn = rng.permutation(n)
    while fruitless < n and not budget.exhausted():
        if turn.size == 0:
            turn = rng.permutation(n)
        item, turn = int(turn[0]), turn[1:]
        changed = after(state, score, item)
        fruitless = 0 if changed < score else fruitless + 1
        if changed < score:
            chosen[item], score = 1 - chosen[item], changed
    return state
