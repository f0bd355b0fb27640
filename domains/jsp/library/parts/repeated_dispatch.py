"""Schedules built again and again.

The file brings ``schedule``, which builds one of them.
"""

import numpy as np
from parts.generic.tries import best_built
from parts.taker import schedule


def best_of_schedules(env_data, state, problem, rule, spread, restarts):
    """Give `state` the best of at most `restarts` schedules of `problem`, arrays that ``schedule`` takes; the
    first one follows the bare rule, the others one blurred by `spread`."""
    sequence = np.empty(env_data["total_ops"], np.int32)

    def schedules():
        for restart in range(restarts):
            makespan = schedule(*problem, rule, spread if restart else 0.0, sequence, env_data["rng"])
            yield sequence.copy(), makespan

    state.sequence = best_built(schedules(), env_data["budget"])
    return state
