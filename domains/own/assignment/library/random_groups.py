"""Random groups: the best of a few random assignments.

Method: TRIES random assignments are scored and the best is kept.
Source: folklore; the weakest start, and the most varied one.
Complexity: O(n) and one score per assignment. Work units: one per assignment.
"""

import numpy as np

TRIES = 10  # tunable: int 1..200


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    n, k = env_data["solution_size"], env_data["solution_groups"]
    best, best_score = state, None
    for _ in range(TRIES):
        state.sequence = rng.integers(k, size=n).astype(np.int32)
        score = calc_makespan_fn(state)
        if best_score is None or score < best_score:
            best, best_score = state.copy(), score
        if budget.exhausted():
            break
    return best
