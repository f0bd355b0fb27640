"""Priority rules of schedules that are built operation by operation.

The file brings ``schedule``, which builds one of them.
"""

import numpy as np
from numba import njit
from parts.taker import schedule

RULES = ("remaining", "bottleneck", "lpt", "spt", "random")


# exchangeable: priority-rule
@njit(cache=True)
def priority(rule, time, job_left, machine_left, draw):
    """Value of an operation under a rule, higher is served first; `draw` is uniform on [0, 1).

    `job_left` and `machine_left` are the times still to be served of its job and its machine.
    """
    if rule == 0:
        return float(job_left + machine_left)
    if rule == 1:
        return float(max(job_left, machine_left))
    if rule == 2:
        return float(time)
    if rule == 3:
        return 1.0 / (1.0 + time)
    return draw


def dispatch_repeatedly(env_data, state, rule, spread, restarts):
    """Give `state` the best of at most `restarts` schedules; the first one follows the bare rule."""
    budget, rng = env_data["budget"], env_data["rng"]
    times = np.array(env_data["ossp_times"], dtype=np.int32)
    sequence = np.empty(env_data["total_ops"], np.int32)
    best = None
    for restart in range(restarts):
        noise = 0.0 if restart == 0 else spread
        makespan = schedule(times, RULES.index(rule), noise, sequence, rng)
        budget.charge(1)
        if best is None or makespan < best:
            best = makespan
            state.sequence = sequence.copy()
        if budget.exhausted():
            break
    return state
