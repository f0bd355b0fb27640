"""Schedules built again and again.

The file brings ``schedule``, which builds one of them.
"""

import numpy as np
from parts.taker import schedule


def best_of_schedules(env_data, state, problem, rule, spread, restarts):
    """Give `state` the best of at most `restarts` schedules of `problem`, arrays that ``schedule`` takes; the
    first one follows the bare rule, the others one blurred by `spread`."""
    budget, rng = env_data["budget"], env_data["rng"]
    sequence = np.empty(env_data["total_ops"], np.int32)
    best = None
    for restart in range(restarts):
        noise = 0.0 if restart == 0 else spread
        makespan = schedule(*problem, rule, noise, sequence, rng)
        budget.charge(1)
        if best is None or makespan < best:
            best = makespan
            state.sequence = sequence.copy()
        if budget.exhausted():
            break
    return state
