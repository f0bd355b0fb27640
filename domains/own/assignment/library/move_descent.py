"""Descent by moves: single items change their group wherever that gains.

Method: the items in random turn; each goes to its best group. Ends when no item gains.
Source: E. Aarts, J. K. Lenstra (eds.), "Local Search in Combinatorial Optimization" (1997).
Complexity: k scores of moves per item for k groups. Work units: one per move scored.
"""

import numpy as np


def run(env_data, state, calc_makespan_fn):
    rng, budget, after = env_data["rng"], env_data["budget"], env_data["score_of_move"]
    groups = np.array(state.sequence, dtype=np.int32)
    state.sequence = groups
    score = calc_makespan_fn(state)
    k, fruitless = env_data["solution_groups"], 0
    turn = rng.permutation(groups.size)
    while fruitless < groups.size and not budget.exhausted():
        if turn.size == 0:
            turn = rng.permutation(groups.size)
        item, turn = int(turn[0]), turn[1:]
        best, best_score = groups[item], score
        for group in range(k):
            if budget.exhausted():
                break
            if group == groups[item]:
                continue
            changed = after(state, score, item, group)
            if changed < best_score:
                best, best_score = group, changed
        fruitless = 0 if best_score < score else fruitless + 1
        groups[item], score = best, best_score
    return state
