"""Priority rules of schedules that are built operation by operation.

A file that takes ``dispatch_repeatedly`` brings ``schedule``, which builds one of them.
"""

import numpy as np
from numba import njit
from parts.repeated_dispatch import best_of_schedules

RULES = ("mwkr", "spt", "lpt", "mopnr", "random")


# exchangeable: priority-rule
@njit(cache=True)
def priority(rule, time, work_left, operations_left, draw):
    """Value of an operation under a rule, higher is served first; `draw` is uniform on [0, 1)."""
    if rule == 0:
        return float(work_left)
    if rule == 1:
        return 1.0 / (1.0 + time)
    if rule == 2:
        return float(time)
    if rule == 3:
        return float(operations_left)
    return draw


@njit(cache=True)
def nothing_scheduled(times):
    """Operations done, end and time left of each job; end of each machine: before the first operation."""
    n, m = times.shape
    work = np.empty(n, np.int64)
    for j in range(n):
        work[j] = times[j].sum()
    return np.zeros(n, np.int64), np.zeros(n, np.int64), work, np.zeros(m, np.int64)


def dispatch_repeatedly(env_data, state, rule, spread, restarts):
    """Give `state` the best of at most `restarts` schedules; the first one follows the bare rule."""
    machines = np.array(env_data["machines_matrix"], dtype=np.int32)
    times = np.array(env_data["times_matrix"], dtype=np.int32)
    return best_of_schedules(env_data, state, (machines, times), RULES.index(rule), spread, restarts)
