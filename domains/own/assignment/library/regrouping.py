"""Regrouping: whole groups are closed or opened, and the items concerned go where they are best.

Method: ruin and recreate on groups. Either a group that is used loses all its items, or a part of the items
is free to go to a group that is not used; each such item then goes to the best of all groups in random turn.
The result is accepted like annealing does, with a temperature that falls to zero. Uses its whole share;
gives the best assignment met.
Source: G. Schrimpf et al., "Record breaking optimization results using the ruin and recreate principle"
(2000).
Complexity: k scores of moves per item concerned for k groups. Work units: one per move scored.
"""

import math

import numpy as np
from parts.best_group import best_group

OPENED = 0.4  # tunable: float 0.0..1.0
SHARE = 0.2  # tunable: float 0.02..1.0
HEAT = 0.01  # tunable: float 0.0001..0.2


# exchangeable: regrouped-items
def ruined(groups, k, rng):
    """A changed copy of the assignment, and the items that are to find their best groups in it."""
    changed = groups.copy()
    used = np.unique(groups)
    unused = np.setdiff1d(np.arange(k), used)
    if unused.size > 0 and (used.size == 1 or rng.random() < OPENED):
        items = rng.permutation(groups.size)[: max(int(SHARE * groups.size), 1)]
        changed[items[0]] = unused[int(rng.integers(unused.size))]
        return changed, items[1:]
    closed = used[int(rng.integers(used.size))]
    items = np.flatnonzero(groups == closed)
    others = used[used != closed]
    if others.size > 0:
        changed[items] = others[rng.integers(others.size, size=items.size)]
    return changed, rng.permutation(items)


def recreated(groups, items, state, env_data, decode):
    """Put the items into their best groups one after the other; the score of the result."""
    state.sequence = groups
    score = decode(state)
    candidates = np.unique(groups)
    for item in items:
        found = best_group(item, candidates, state, score, env_data)
        if found is None:
            break
        groups[item], score = found
    return score


def run(env_data, state, calc_makespan_fn):
    rng, budget, k = env_data["rng"], env_data["budget"], env_data["solution_groups"]
    groups = np.array(state.sequence, dtype=np.int32)
    score = calc_makespan_fn(state)
    best, best_score = groups, score
    while not budget.exhausted():
        changed, items = ruined(groups, k, rng)
        changed_score = recreated(changed, items, state, env_data, calc_makespan_fn)
        heat = HEAT * budget.remaining() * max(abs(best_score), 1e-9) + 1e-12
        if changed_score <= score or rng.random() < math.exp(max((score - changed_score) / heat, -700.0)):
            groups, score = changed, changed_score
        if score < best_score:
            best, best_score = groups.copy(), score
    state.sequence = best.copy()
    return state
