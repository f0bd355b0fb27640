"""Completion times and tails of an order of jobs, and makespans of changed orders by means of them.

Source: E. Taillard, Some efficient heuristic methods for the flow shop sequencing problem, 1990.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def update_heads(order, size, times, e, held, front):
    """e[k, i + 1]: when the job at place i of the first `size` ends on machine k.

    `held` is the order that `e` belongs to: only what lies behind their common beginning is computed, job by
    job, so that the processor works at the paths through several jobs at a time.
    """
    start = 0
    while start < size and held[start] == order[start]:
        start += 1
    for k in range(front.size):
        front[k] = e[k, start]
    for i in range(start, size):
        job = held[i] = order[i]
        done = np.int64(0)
        for k in range(front.size):
            wait = front[k] - done  # 0 if negative: a maximum without a branch, which nobody could predict
            done += times[k, job] + (wait & ~(wait >> 63))
            front[k] = e[k, i + 1] = done
    if start < size < held.size:  # what stood there belongs to another beginning
        held[size] = -1


@njit(cache=True)
def update_tails(order, size, times, q, held, front):
    """q[k, i + n - size]: longest path from the start of the job at place i on machine k to the end.

    Columns count from the end, so that a job which leaves moves none behind it; the last one, n, stays 0.
    `held`, aligned in the same way, is the order that `q` belongs to.
    """
    shift = held.size - size
    end = size
    while end > 0 and held[shift + end - 1] == order[end - 1]:
        end -= 1
    for k in range(front.size):
        front[k] = q[k, shift + end]
    for i in range(end - 1, -1, -1):
        job = held[shift + i] = order[i]
        done = np.int64(0)
        for k in range(front.size - 1, -1, -1):
            wait = front[k] - done
            done += times[k, job] + (wait & ~(wait >> 63))
            front[k] = q[k, shift + i] = done
    if end > 0 and shift > 0:
        held[shift - 1] = -1


@njit(cache=True)
def update_paths(order, size, times, work):
    """Heads and tails of the first `size` jobs of `order`, computed where they differ from those at hand."""
    e, q, held, front, _done, _value = work
    update_heads(order, size, times, e, held[0], front)
    update_tails(order, size, times, q, held[1], front)


@njit(cache=True)
def rate_places(job, order, size, times, work):
    """Makespans with `job` at each place of the first `size` of `order` (Taillard's acceleration)."""
    update_paths(order, size, times, work)
    e, q, held, _front, done, value = work
    shift = held.shape[1] - size
    for i in range(size + 1):
        done[i] = value[i] = 0
    for k in range(times.shape[0]):
        time = times[k, job]
        heads, tails = e[k], q[k, shift:]
        for i in range(size + 1):
            done[i] = max(done[i], heads[i]) + time
            value[i] = max(value[i], done[i] + tails[i])
    return value


@njit(cache=True)
def segment_value(order, lo, hi, times, work, front):
    """Makespan when only places lo..hi of `order` differ from the order of the heads and tails in `work`."""
    m = front.size
    e, q = work[0], work[1]
    front[:] = e[:, lo]
    for i in range(lo, hi + 1):
        done = 0
        for k in range(m):
            done = max(done, front[k]) + times[k, order[i]]
            front[k] = done
    value = 0
    for k in range(m):
        value = max(value, front[k] + q[k, hi + 1])
    return value


def work_arrays(times):
    """Heads, tails, the orders they belong to, then rows: times of machines, ends and makespans by place.

    See update_heads, update_tails and rate_places.
    """
    m, n = times.shape
    table, rows = np.zeros((2, m, n + 1), np.int32), np.zeros((2, n + 1), np.int32)
    held, front = np.full((2, n), -1, np.int32), np.zeros(m, np.int64)
    return table[0], table[1], held, front, rows[0], rows[1]


def job_times(env_data):
    """Processing times int32 (m, n), those of a job side by side in memory."""
    return np.array(env_data["processing_times"], dtype=np.int32, order="F")


def lower_bound(times):
    """Longest job and, per machine, least head + load + least tail: a makespan no schedule beats."""
    heads = np.cumsum(times, axis=0) - times
    tails = times.sum(axis=0) - heads - times
    loads = heads.min(axis=1) + times.sum(axis=1) + tails.min(axis=1)
    return int(max(times.sum(axis=0).max(), loads.max()))


def orders_in(sequence, n, m):
    """The different orders of jobs that the machines follow, int32, a row each."""
    rows = sequence.reshape(n, m)
    if (rows == rows[:, :1]).all():  # a permutation schedule, which nearly all are
        return rows[:, 0][np.newaxis].astype(np.int32)
    places = np.argsort(sequence, kind="stable").reshape(n, m)
    return np.unique(np.argsort(places, axis=0).T, axis=0).astype(np.int32)


def job_order(state, n, m, calc_makespan_fn):
    """The order of a machine that all machines had best follow, int32 (n,), and the makespan it gives."""
    given, best, value = state.sequence, None, np.inf
    for order in orders_in(given, n, m):
        state.sequence = np.repeat(order, m)
        rated = calc_makespan_fn(state)
        if rated < value:
            best, value = order, rated
    state.sequence = given
    return best, int(value)


def open_order(env_data, state, calc_makespan_fn):
    """What a search begins with: times `(m, n)`, makespan of `state`, its order of jobs and the makespan."""
    times = job_times(env_data)
    given = calc_makespan_fn(state)
    order, value = job_order(state, env_data["num_jobs"], env_data["num_machines"], calc_makespan_fn)
    return times, given, order, value


def close_order(env_data, state, order, value, given):
    """Give `state` the order on all machines, unless its makespan `value` is worse than what was given."""
    if value <= given:
        state.sequence = np.repeat(order, env_data["num_machines"])
    return state
