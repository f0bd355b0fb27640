"""Descent by swaps: exchange the entries of two places wherever that gains.

Method: all pairs of places at most REACH of the length apart are tried in random turn; a gain is taken at
once. Ends when no pair gains.
Source: E. Aarts, J. K. Lenstra (eds.), "Local Search in Combinatorial Optimization" (1997).
Complexity: O(n²) scores of moves per round for n places. Work units: one per move scored.
"""

import numpy as np

REACH = 1.0  # tunable: float 0.05..1.0


def run(env_data, state, calc_makespan_fn):
    rng, budget, after = env_data["rng"], env_data["budget"], env_data["score_of_move"]
    order = np.array(state.sequence, dtype=np.int32)
    state.sequence = order
    score = calc_makespan_fn(state)
    n = order.size
    first, second = np.triu_indices(n, 1)
    near = second - first <= max(int(REACH * n), 1)
    first, second = first[near], second[near]
    has_gained = True
    while has_gained and not budget.exhausted():
        has_gained = False
        for pair in rng.permutation(first.size):
            i, j = first[pair], second[pair]
            if order[i] == order[j]:
                continue
            if budget.exhausted():
                break
            changed = after(state, score, i, j)
            if changed < score:
                order[i], order[j] = order[j], order[i]
                score, has_gained = changed, True
    return state
