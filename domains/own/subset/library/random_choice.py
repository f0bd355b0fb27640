"""Random choice: the best of a few random subsets.

Method: TRIES random subsets of random size, or of the given one, are scored and the best is kept.
Source: folklore; the weakest start, and the most varied one.
Complexity: O(n) and one score per subset. Work units: one per subset.
"""

import numpy as np

TRIES = 10  # tunable: int 1..200


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    n, size = env_data["solution_size"], env_data["solution_chosen"]
    best, best_score = state, None
    for _ in range(TRIES):
        count = size if size >= 0 else int(rng.integers(n + 1))
        state.sequence = np.zeros(n, np.int32)
        state.sequence[rng.permutation(n)[:count]] = 1
        score = calc_makespan_fn(state)
        if best_score is None or score < best_score:
            best, best_score = state.copy(), score
        if budget.exhausted():
            break
    return best
