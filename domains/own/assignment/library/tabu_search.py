"""Tabu search: the best of some random moves, except that an item does not go back soon.

Method: each step scores SAMPLE random moves of an item and makes the best, even if it loses; the item may not
return to its group for TENURE to twice as many steps unless that gives a new best. Uses its whole share.
Source: F. Glover, "Tabu search, part I" (1989).
Complexity: SAMPLE scores of moves per step. Work units: one per move scored.
"""

import numpy as np

SAMPLE = 30  # tunable: int 2..300
TENURE = 10  # tunable: int 1..100


def run(env_data, state, calc_makespan_fn):
    rng, budget, after = env_data["rng"], env_data["budget"], env_data["score_of_move"]
    groups, k = np.array(state.sequence, dtype=np.int32), env_data["solution_groups"]
    state.sequence = groups
    score = calc_makespan_fn(state)
    best, best_score = groups.copy(), score
    barred = np.zeros((groups.size, k), dtype=np.int64)
    step = 0
    while not budget.exhausted():
        step += 1
        chosen, chosen_score = None, None
        for _ in range(SAMPLE):
            if budget.exhausted():
                break
            item, group = int(rng.integers(groups.size)), int(rng.integers(k))
            if group == groups[item]:
                continue
            changed = after(state, score, item, group)
            if (barred[item, group] < step or changed < best_score) and (
                chosen_score is None or changed < chosen_score
            ):
                chosen, chosen_score = (item, group), changed
        if chosen is None:
            budget.charge(1)
            continue
        item, group = chosen
        barred[item, groups[item]] = step + TENURE + int(rng.integers(TENURE + 1))
        groups[item], score = group, chosen_score
        if score < best_score:
            best, best_score = groups.copy(), score
    state.sequence = best
    return state
