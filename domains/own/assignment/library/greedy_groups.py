"""Greedy groups: from a random assignment each item goes once to the group where it is best.

Method: the items in random turn; for each the best of all groups, or of CANDIDATES random ones where there
are more.
Source: folklore.
Complexity: k scores of moves per item for k groups. Work units: one per move scored.
"""

import numpy as np

CANDIDATES = 50  # tunable: int 2..500


def run(env_data, state, calc_makespan_fn):
    rng, budget, after = env_data["rng"], env_data["budget"], env_data["score_of_move"]
    n, k = env_data["solution_size"], env_data["solution_groups"]
    groups = rng.integers(k, size=n).astype(np.int32)
    state.sequence = groups
    score = calc_makespan_fn(state)
    for item in rng.permutation(n):
        best, best_score = groups[item], score
        for group in rng.permutation(k)[:CANDIDATES]:
            if budget.exhausted():
                return state
            changed = after(state, score, item, group)
            if changed < best_score:
                best, best_score = group, changed
        groups[item], score = best, best_score
    return state
