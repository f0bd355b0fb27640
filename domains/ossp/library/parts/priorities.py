"""Priority rules of schedules that are built operation by operation.

A file that takes ``dispatch_repeatedly`` brings ``schedule``, which builds one of them.
"""

import numpy as np
from numba import njit
from parts.jsp.repeated_dispatch import best_of_schedules

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
    times = np.array(env_data["ossp_times"], dtype=np.int32)
    return best_of_schedules(env_data, state, (times,), RULES.index(rule), spread, restarts)
