"""Forward-backward improvement: all activities to the right, then to the left, as long as that helps.

Method: activities are rescheduled as late as possible by falling finish time, then as early as possible by
rising start time; the schedule never gets longer. Rounds without gain are borne PATIENCE times, because the
schedule changes all the same.

Source: K. Y. Li, R. J. Willis, An iterative scheduling technique for resource-constrained project
scheduling, 1992; V. Valls, F. Ballestín, S. Quintanilla, Justification and RCPSP: a technique that pays,
2005.

Complexity: two schedules per round, each O(N (predecessors + periods searched)) for N activities.
"""

import numpy as np
from parts.project import prepare
from parts.serial_schedules import justify, serial

PATIENCE = 3  # tunable: int 1..50


def run(env_data, state, calc_makespan_fn):
    """Justify the schedule of `state` until PATIENCE rounds in a row bring no gain."""
    budget = env_data["budget"]
    project, before, after, horizon = prepare(env_data)
    n = project[0].size
    free = np.empty((project[1].shape[1], horizon), np.int64)
    work = (np.empty(horizon, np.int64), np.empty(n, np.int32), np.empty(n, np.int64))
    order, finish = np.array(state.sequence, dtype=np.int32), np.empty(n, np.int64)
    makespan = serial(order, project, before, free, finish)
    idle = 0
    while idle < PATIENCE:
        shorter = justify(order, finish, makespan, project, before, after, free, work)
        budget.charge(2)
        idle = 0 if shorter < makespan else idle + 1
        makespan = shorter
        if budget.exhausted():
            break
    state.sequence = order
    return state
