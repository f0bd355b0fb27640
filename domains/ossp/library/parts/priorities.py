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


@njit(cache=True)
def nothing_scheduled(times):
    """Open operations; end and time left of each job; end and time left of each machine."""
    n, m = times.shape
    job_left, machine_left = np.zeros(n, np.int64), np.zeros(m, np.int64)
    for x in range(n * m):
        job_left[x // m] += times[x // m, x % m]
        machine_left[x % m] += times[x // m, x % m]
    left = np.arange(n * m, dtype=np.int32)
    return left, np.zeros(n, np.int64), job_left, np.zeros(m, np.int64), machine_left


def dispatch_repeatedly(env_data, state, rule, spread, restarts):
    """Give `state` the best of at most `restarts` schedules; the first one follows the bare rule."""
    times = np.array(env_data["ossp_times"], dtype=np.int32)
    return best_of_schedules(env_data, state, (times,), RULES.index(rule), spread, restarts)
