"""Greedy choice: items are taken in random turn unless that makes the subset worse.

Method: from nothing, each item in random turn is taken if the score does not rise; where the size is given,
a random subset of that size instead, whose items are exchanged once each for a better one of TRIED others.
Source: folklore.
Complexity: one score per item. Work units: one per score.
"""

import numpy as np

TRIED = 5  # tunable: int 1..50


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    n, size = env_data["solution_size"], env_data["solution_chosen"]
    chosen = np.zeros(n, np.int32)
    chosen[rng.permutation(n)[: max(size, 0)]] = 1
    state.sequence = chosen
    score = calc_makespan_fn(state)
    for item in rng.permutation(n):
        if size >= 0:
            partners = rng.permutation(np.flatnonzero(chosen != chosen[item]))[:TRIED]
        else:
            partners = [item]
        for other in partners:
            if budget.exhausted():
                return state
            before = chosen[item], chosen[other]
            chosen[item] = 1 - chosen[item]
            if other != item:
                chosen[other] = 1 - chosen[other]
            changed = calc_makespan_fn(state)
            if changed <= score:
                score = changed
                break
            chosen[item], chosen[other] = before
    return state
