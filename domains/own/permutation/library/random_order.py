"""Random order: the best of a few random orders.

Method: TRIES random orders are scored and the best is kept.
Source: folklore; the weakest start, and the most varied one.
Complexity: O(n) and one score per order. Work units: one per order.
"""

import numpy as np

TRIES = 10  # tunable: int 1..200


def run(env_data, state, calc_makespan_fn):
    rng, budget, n = env_data["rng"], env_data["budget"], env_data["solution_size"]
    entries = np.arange(n)
    if "solution_counts" in env_data:
        counts = env_data["solution_counts"]
        entries = np.repeat(np.arange(counts.size), counts)
    best, best_score = state, None
    for _ in range(TRIES):
        state.sequence = rng.permutation(entries).astype(np.int32)
        score = calc_makespan_fn(state)
        if best_score is None or score < best_score:
            best, best_score = state.copy(), score
        if budget.exhausted():
            break
    return best
