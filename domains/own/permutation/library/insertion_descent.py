"""Descent by insertions: single entries go to their best places.

Method: the entries leave the order in random turn; each is put back where the score is best, or where it was.
Ends when all entries were tried in vain one after the other.
Source: E. Aarts, J. K. Lenstra (eds.), "Local Search in Combinatorial Optimization" (1997).
Complexity: n scores per entry for n places. Work units: one per score.
"""

import numpy as np
from parts.moves import moved

REACH = 1.0  # tunable: float 0.05..1.0


def places(position, n, rng):
    """Positions that are tried for an entry, REACH of all of them, the nearest ones."""
    reach = max(int(REACH * n), 1)
    near = np.arange(max(position - reach, 0), min(position + reach, n - 1) + 1)
    return rng.permutation(near[near != position])


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    order = np.array(state.sequence, dtype=np.int32)
    score = calc_makespan_fn(state)
    n, fruitless = order.size, 0
    turn = rng.permutation(n)
    while fruitless < n and not budget.exhausted():
        if turn.size == 0:
            turn = rng.permutation(n)
        source, turn = int(turn[0]), turn[1:]
        best, best_score = order, score
        for target in places(source, n, rng):
            state.sequence = moved(order, source, int(target))
            changed = calc_makespan_fn(state)
            if changed < best_score:
                best, best_score = state.sequence, changed
            if budget.exhausted():
                break
        fruitless = 0 if best_score < score else fruitless + 1
        order, score = best, best_score
    state.sequence = order
    return state
