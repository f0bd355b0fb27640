"""Regret-biased random sampling, every schedule improved by justification, in both directions of time.

Method: lists are drawn with a chance that grows with the regret under the latest-finish rule, for every
other schedule from the end of the project (under the earliest-start rule), and each schedule is shifted to
the right and to the left once. The best one is returned.

Source: P. Tormos, A. Lova, A competitive heuristic solution technique for resource-constrained project
scheduling, 2001; V. Valls, F. Ballestín, S. Quintanilla, Justification and RCPSP: a technique that pays,
2005.

Complexity: three or four schedules per pass, each O(N (eligible activities + periods searched)).
"""

import numpy as np
from numba import njit
from parts.generic.keeping import keep_least
from parts.project import longest_tails, set_up
from parts.sampling import sample_in_chunks, sampled_list
from parts.serial_schedules import justify, serial, turn

PASSES = 200  # tunable: int 1..100000
BIAS = 2.0  # tunable: float 0.0..10.0
CHUNK_ACTIVITIES = 60_000  # activities scheduled by one kernel call


@njit(cache=True)
def sample(passes, since, keys, bias, project, before, after, free, work, lists, finish, value, rng):
    """Passes number `since` to `since` + `passes` - 1; the best list is kept in the second of `lists`."""
    order, best = lists
    bucket, turned, turned_finish = work
    for number in range(since, since + passes):
        strength = bias if number >= 2 else -1.0
        if number % 2 == 0:
            sampled_list(order, keys[0], strength, before, after, rng)
        else:
            sampled_list(turned, keys[1], strength, after, before, rng)
            makespan = serial(turned, project, after, free, turned_finish)
            turn(turned, turned_finish, makespan, bucket, order)
        makespan = serial(order, project, before, free, finish)
        makespan = justify(order, finish, makespan, project, before, after, free, work)
        value = keep_least(makespan, value, order, best)
    return value


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of at most PASSES lists; stops early when a lower bound is met."""
    rng = env_data["rng"]
    project, before, after, tails, target, free = set_up(env_data)
    durations = project[0]
    n = durations.size
    keys = np.stack((durations - tails, durations - longest_tails(durations, before))).astype(np.float64)
    work = (np.empty(free.shape[1], np.int64), np.empty(n, np.int32), np.empty(n, np.int64))
    lists, finish = (np.empty(n, np.int32), np.empty(n, np.int32)), np.empty(n, np.int64)

    def some(count, since, value):
        return sample(count, since, keys, BIAS, project, before, after, free, work, lists, finish, value, rng)

    sample_in_chunks(env_data["budget"], target, PASSES, max(1, CHUNK_ACTIVITIES // (3 * n)), 3, some)
    state.sequence = lists[1]
    return state
