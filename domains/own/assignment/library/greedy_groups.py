"""Greedy groups: from a random assignment each item goes once to the group where it is best.

Method: the items in random turn; for each the best of all groups, or of CANDIDATES random ones where there
are more.
Source: folklore.
Complexity: k scores of moves per item for k groups. Work units: one per move scored.
"""

import numpy as np
from parts.best_group import best_group

CANDIDATES = 50  # tunable: int 2..500


def run(env_data, state, calc_makespan_fn):
    rng, n, k = env_data["rng"], env_data["solution_size"], env_data["solution_groups"]
    state.sequence = rng.integers(k, size=n).astype(np.int32)
    score = calc_makespan_fn(state)
    for item in rng.permutation(n):
        found = best_group(item, rng.permutation(k)[:CANDIDATES], state, score, env_data)
        if found is None:
            break
        state.sequence[item], score = found
    return state
