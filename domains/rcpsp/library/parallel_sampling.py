"""Regret-biased random sampling with the parallel scheme; the best of many schedules.

Method: time runs forward from finish to finish; as long as some waiting activity fits, one is drawn and
started, with a chance that grows with the regret of not taking it under a priority rule. The list by start
time is scheduled serially once more. Every other schedule is built from the end of the project.

Source: R. Kolisch, Serial and parallel resource-constrained project scheduling methods revisited, 1996; R.
H. Kelley, The critical-path method: resources planning and scheduling, 1963 (parallel scheme).

Complexity: O(N (waiting + running activities)) per schedule for N activities.
"""

import numpy as np
from numba import njit
from parts.eligible import is_enough
from parts.generic.keeping import keep_least
from parts.project import set_up
from parts.sampling import all_keys, sample_in_chunks
from parts.sequences.precedence import count_waits, release
from parts.serial_schedules import serial, turn

PASSES = 500  # tunable: int 1..100000
BIAS = 1.0  # tunable: float 0.0..10.0
RULE = "lft"  # tunable: choice lft lst slack mts grpw spt
CHUNK_ACTIVITIES = 20_000  # passes of one kernel call times activities of the instance


@njit(cache=True)
def choose(waiting, count, fits, keys, bias, rng):
    """Place in `waiting` of the next activity among those that fit; -1 if none does."""
    chosen = -1
    worst = -1e300
    for k in range(count):
        if fits[k]:
            worst = max(worst, keys[waiting[k]])
            if chosen < 0 or keys[waiting[k]] < keys[waiting[chosen]]:
                chosen = k
    if chosen < 0 or bias < 0.0:
        return chosen
    total = 0.0
    for k in range(count):
        if fits[k]:
            weight = (1.0 + worst - keys[waiting[k]]) ** bias
            total += weight
            if rng.random() * total < weight:
                chosen = k
    return chosen


@njit(cache=True)
def parallel(order, keys, bias, project, before, after, finish, rng):
    """Parallel schedule generation; writes the activities by start time into `order`."""
    durations, need, capacity, guard = project
    n = durations.size
    waits_for, waiting, running = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    fits = np.empty(n, np.bool_)
    left = capacity.copy()
    n_waiting = count_waits(before[0], waits_for, waiting)
    n_running = listed = 0
    now = np.int64(0)
    while listed < n:
        for k in range(n_waiting):
            fits[k] = is_enough(left, need[waiting[k]], guard)
        k = choose(waiting, n_waiting, fits, keys, bias, rng)
        if k >= 0:
            x = waiting[k]
            n_waiting -= 1
            waiting[k] = waiting[n_waiting]
            running[n_running] = x
            n_running += 1
            left -= need[x]
            finish[x] = now + durations[x]
            order[listed] = x
            listed += 1
            continue
        now = finish[running[0]]
        for k in range(n_running):
            now = min(now, finish[running[k]])
        kept = 0
        for k in range(n_running):
            x = running[k]
            if finish[x] > now:
                running[kept] = x
                kept += 1
                continue
            left += need[x]
            n_waiting = release(x, after[0], after[1], waits_for, waiting, n_waiting)
        n_running = kept


@njit(cache=True)
def sample(passes, since, keys, bias, project, before, after, free, lists, finish, bucket, value, rng):
    """Passes number `since` to `since` + `passes` - 1; the best list is kept in the second of `lists`."""
    order, best, turned = lists
    for number in range(since, since + passes):
        strength = bias if number >= 2 else -1.0
        if number % 2 == 0:
            parallel(order, keys[0], strength, project, before, after, finish, rng)
        else:
            parallel(turned, keys[1], strength, project, after, before, finish, rng)
            makespan = serial(turned, project, after, free, finish)
            turn(turned, finish, makespan, bucket, order)
        makespan = serial(order, project, before, free, finish)
        value = keep_least(makespan, value, order, best)
    return value


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of at most PASSES lists; stops early when a lower bound is met."""
    rng = env_data["rng"]
    project, before, after, _tails, target, free = set_up(env_data)
    durations = project[0]
    n = durations.size
    keys = np.stack((all_keys(RULE, durations, before, after), all_keys(RULE, durations, after, before)))
    lists = (np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32))
    finish, bucket = np.empty(n, np.int64), np.empty(free.shape[1], np.int64)

    def some(count, since, value):
        return sample(
            count, since, keys, BIAS, project, before, after, free, lists, finish, bucket, value, rng
        )

    sample_in_chunks(env_data["budget"], target, PASSES, max(1, CHUNK_ACTIVITIES // n), 2, some)
    state.sequence = lists[1]
    return state
