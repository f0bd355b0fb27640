"""Random sides.

Method: each vertex goes to either side with equal probability; the best of STARTS draws is kept.
Source: S. Sahni, T. Gonzalez, "P-complete approximation problems" (1976): such a cut has half of the weight
on average.
Complexity: O(STARTS (n + m)). Work units: one per draw.
"""

import numpy as np

STARTS = 3  # tunable: int 1..20


def run(env_data, state, calc_makespan_fn):
    rng, n = env_data["rng"], env_data["num_nodes"]
    best, best_score = state.sequence, np.inf
    for _ in range(STARTS):
        state.sequence = rng.integers(0, 2, n).astype(np.int32)
        score = calc_makespan_fn(state)
        if score < best_score:
            best, best_score = state.sequence, score
    state.sequence = best
    return state
