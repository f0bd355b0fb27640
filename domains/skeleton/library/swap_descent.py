"""Swap descent: exchange two places of the order unless that makes it worse.

Method: random pairs of places; stops when PATIENCE times the number of places were tried without a gain. It
knows nothing of the problem but its decoder, so it serves any problem whose states are permutations.
Source: E. Aarts, J. K. Lenstra (eds.), "Local Search in Combinatorial Optimization" (1997).
Complexity: one decode per swap. Work units: one per decode.
"""

import numpy as np

PATIENCE = 4  # tunable: int 1..50


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    order = np.array(state.sequence, dtype=np.int32)
    state.sequence = order
    score = calc_makespan_fn(state)
    fruitless = 0
    while fruitless < PATIENCE * order.size and not budget.exhausted():
        i, j = rng.integers(order.size, size=2)
        order[i], order[j] = order[j], order[i]
        changed = calc_makespan_fn(state)
        fruitless = 0 if changed < score else fruitless + 1
        if changed > score:
            order[i], order[j] = order[j], order[i]
        else:
            score = changed
    return state
