"""Regret-biased random sampling with the serial scheme; the best of many schedules.

Method: the next activity of a list is drawn from those whose predecessors are listed, with a chance that
grows with the regret of not taking it under a priority rule; the first list follows the bare rule.

Source: A. Drexl, Scheduling of project networks by job assignment, 1991; R. Kolisch, Serial and parallel
resource-constrained project scheduling methods revisited, 1996.

Complexity: O(N (eligible activities + periods searched)) per schedule for N activities.
"""

import numpy as np
from numba import njit
from parts.generic.keeping import keep_least
from parts.project import set_up
from parts.sampling import all_keys, sampled_list
from parts.serial_schedules import serial

PASSES = 500  # tunable: int 1..100000
BIAS = 1.0  # tunable: float 0.0..10.0
RULE = "lft"  # tunable: choice lft lst slack mts grpw spt
CHUNK_ACTIVITIES = 40_000  # passes of one kernel call times activities of the instance


@njit(cache=True)
def sample(passes, keys, bias, project, before, after, free, lists, finish, value, rng):
    """Draw `passes` lists; keeps the best one in the second of `lists` and returns its makespan."""
    order, best = lists
    for _ in range(passes):
        sampled_list(order, keys, bias, before, after, rng)
        makespan = serial(order, project, before, free, finish)
        value = keep_least(makespan, value, order, best)
    return value


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of at most PASSES lists; stops early when a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, _tails, target, free = set_up(env_data)
    durations = project[0]
    n = durations.size
    keys = all_keys(RULE, durations, before, after)
    lists, finish = (np.empty(n, np.int32), np.empty(n, np.int32)), np.empty(n, np.int64)
    value = sample(1, keys, -1.0, project, before, after, free, lists, finish, 2**40, rng)
    budget.charge(1)
    passes = max(1, CHUNK_ACTIVITIES // n)
    left = PASSES - 1
    while left > 0 and value > target and not budget.exhausted():
        chunk = min(left, passes)
        value = sample(chunk, keys, BIAS, project, before, after, free, lists, finish, value, rng)
        budget.charge(chunk)
        left -= chunk
    state.sequence = lists[1]
    return state
