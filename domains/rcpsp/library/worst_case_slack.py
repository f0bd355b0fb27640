"""Parallel schedule generation with the worst case slack rule, forwards and backwards in time.

Method: of the activities that fit now, the one is started that would lose most if another were: its latest
start minus the latest of its earliest starts after each rival is smallest. The list by start time is
scheduled serially once more; the same is done from the end of the project, and the better list is returned.

Source: R. Kolisch, Efficient priority rules for the resource-constrained project scheduling problem, 1996.

Complexity: O(N f² a) per schedule for N activities, f that fit together with a running ones.
"""

import numpy as np
from numba import njit
from parts.eligible import is_enough
from parts.project import longest_tails, prepare
from parts.sequences.precedence import count_waits, release
from parts.serial_schedules import serial, turn

RIVALS = 30  # tunable: int 1..1000
TIE_NOISE = 0.01  # tunable: float 0.0..1.0


@njit(cache=True)
def start_after(x, rival, now, left, running, n_running, project, finish):
    """Earliest start of `x` if `rival` starts now; `running` is sorted by finish time."""
    durations, need, _capacity, guard = project
    rest = left - need[rival]
    has_ended = False
    time = now
    for k in range(n_running + 2):
        if is_enough(rest, need[x], guard):
            return time
        i = k - 1 if has_ended else k
        if not has_ended and (i == n_running or now + durations[rival] <= finish[running[i]]):
            has_ended = True
            time = now + durations[rival]
            rest += need[rival]
        else:
            time = finish[running[i]]
            rest += need[running[i]]
    return time


@njit(cache=True)
def choose_by_slack(
    waiting, n_waiting, now, left, running, n_running, rivals, noise, latest, project, finish, rng
):
    """Place in `waiting` of the activity that fits and has the least worst case slack; -1 if none fits."""
    _durations, need, _capacity, guard = project
    fitting = np.empty(n_waiting, np.int64)
    count = 0
    for k in range(n_waiting):
        if is_enough(left, need[waiting[k]], guard):
            fitting[count] = k
            count += 1
    chosen, least = -1, 1e300
    for i in range(count):
        x = waiting[fitting[i]]
        worst = now
        for j in range(max(0, i - rivals), min(count, i + rivals + 1)):
            if j != i:
                rival = waiting[fitting[j]]
                worst = max(worst, start_after(x, rival, now, left, running, n_running, project, finish))
        slack = latest[x] - worst + noise * rng.random()
        if slack < least:
            chosen, least = fitting[i], slack
    return chosen


@njit(cache=True)
def schedule(order, rivals, noise, latest, project, before, after, finish, rng):
    """Parallel generation; writes the activities by start time into `order`."""
    durations, need, capacity, _guard = project
    n = durations.size
    waits_for, waiting, running = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    left = capacity.copy()
    n_waiting = count_waits(before[0], waits_for, waiting)
    n_running = listed = 0
    now = np.int64(0)
    while listed < n:
        k = choose_by_slack(
            waiting, n_waiting, now, left, running, n_running, rivals, noise, latest, project, finish, rng
        )
        if k >= 0:
            x = waiting[k]
            n_waiting -= 1
            waiting[k] = waiting[n_waiting]
            left -= need[x]
            finish[x] = now + durations[x]
            order[listed] = x
            listed += 1
            i = n_running
            while i > 0 and finish[running[i - 1]] > finish[x]:
                running[i] = running[i - 1]
                i -= 1
            running[i] = x
            n_running += 1
            continue
        now = finish[running[0]]
        ended = 0
        while ended < n_running and finish[running[ended]] == now:
            x = running[ended]
            ended += 1
            left += need[x]
            n_waiting = release(x, after[0], after[1], waits_for, waiting, n_waiting)
        n_running -= ended
        for i in range(n_running):
            running[i] = running[i + ended]


def run(env_data, state, calc_makespan_fn):
    """Give `state` the better of a forward and a backward schedule."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, horizon = prepare(env_data)
    durations = project[0]
    n = durations.size
    latest = (-longest_tails(durations, after), -longest_tails(durations, before))
    free = np.empty((project[1].shape[1], horizon), np.int64)
    finish, bucket = np.empty(n, np.int64), np.empty(horizon, np.int64)
    order, turned = np.empty(n, np.int32), np.empty(n, np.int32)
    schedule(order, RIVALS, TIE_NOISE, latest[0], project, before, after, finish, rng)
    value = serial(order, project, before, free, finish)
    state.sequence = order.copy()
    budget.charge(2)
    if not budget.exhausted():
        schedule(turned, RIVALS, TIE_NOISE, latest[1], project, after, before, finish, rng)
        makespan = serial(turned, project, after, free, finish)
        turn(turned, finish, makespan, bucket, order)
        if serial(order, project, before, free, finish) < value:
            state.sequence = order
        budget.charge(3)
    return state
