"""Random order: the best of a few random permutations.

Method: TRIES random permutations are decoded and the best is kept.
Source: folklore; the weakest start, and the most varied one.
Complexity: O(TRIES n). Work units: one per permutation.
"""

import numpy as np

TRIES = 5  # tunable: int 1..50


def run(env_data, state, calc_makespan_fn):
    rng, budget, n = env_data["rng"], env_data["budget"], env_data["num_items"]
    state.sequence = rng.permutation(n).astype(np.int32)
    best, best_score = state.sequence, calc_makespan_fn(state)
    for _ in range(TRIES - 1):
        if budget.exhausted():
            break
        state.sequence = rng.permutation(n).astype(np.int32)
        score = calc_makespan_fn(state)
        if score < best_score:
            best, best_score = state.sequence, score
    state.sequence = best
    return state
