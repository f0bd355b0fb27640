"""The best of several textbook priority rules, each applied forwards and backwards in time.

Method: a rule lists the activities, predecessors first, and serial generation schedules the list; from the
end of the project the same is done with successors first, and the backward schedule is turned into a
forward one. Rules: latest finish and latest start time, least slack, most total successors, greatest rank
positional weight, shortest duration.

Source: R. Kolisch, Efficient priority rules for the resource-constrained project scheduling problem, 1996;
R. Alvarez-Valdes, J. M. Tamarit, Heuristic algorithms for resource-constrained project scheduling, 1989.

Complexity: O(N (N + periods searched)) per schedule for N activities.
"""

import numpy as np
from parts.project import prepare
from parts.sampling import all_keys, sampled_list
from parts.serial_schedules import serial, turn

FIRST_RULE = "lft"  # tunable: choice lft lst slack mts grpw spt
BACKWARDS = 1  # tunable: int 0..1

RULES = ("lft", "lst", "slack", "mts", "grpw", "spt")


def run(env_data, state, calc_makespan_fn):
    """Give `state` the list of the shortest schedule; FIRST_RULE comes first and always."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, horizon = prepare(env_data)
    durations = project[0]
    n = durations.size
    free = np.empty((project[1].shape[1], horizon), np.int64)
    bucket, finish = np.empty(horizon, np.int64), np.empty(n, np.int64)
    order, turned = np.empty(n, np.int32), np.empty(n, np.int32)
    rules = (FIRST_RULE, *(rule for rule in RULES if rule != FIRST_RULE))
    best = None
    for rule, is_backward in [(rule, k > 0) for rule in rules for k in range(1 + BACKWARDS)]:
        if is_backward:
            sampled_list(order, all_keys(rule, durations, after, before), -1.0, after, before, rng)
            makespan = serial(order, project, after, free, finish)
            turn(order, finish, makespan, bucket, turned)
            order[:] = turned
        else:
            sampled_list(order, all_keys(rule, durations, before, after), -1.0, before, after, rng)
        makespan = serial(order, project, before, free, finish)
        budget.charge(1 + is_backward)
        if best is None or makespan < best:
            best = makespan
            state.sequence = order.copy()
        if budget.exhausted():
            break
    return state
