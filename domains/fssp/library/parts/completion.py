"""Completion times and tails of an order of jobs, and makespans of changed orders by means of them.

Source: E. Taillard, Some efficient heuristic methods for the flow shop sequencing problem, 1990.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def update_heads(order, start, size, times, e):
    """e[k, i + 1]: when the job at place i of the first `size` ends on machine k; places from `start` on."""
    for i in range(start, size):
        e[0, i + 1] = e[0, i] + times[0, order[i]]
    for k in range(1, times.shape[0]):
        for i in range(start, size):
            e[k, i + 1] = max(e[k - 1, i + 1], e[k, i]) + times[k, order[i]]


@njit(cache=True)
def update_tails(order, size, times, q):
    """q[k, i]: longest path from the start of the job at place i on machine k to the end; q[:, size] = 0."""
    last = times.shape[0] - 1
    q[last, size] = 0
    for i in range(size - 1, -1, -1):
        q[last, i] = q[last, i + 1] + times[last, order[i]]
    for k in range(last - 1, -1, -1):
        q[k, size] = 0
        for i in range(size - 1, -1, -1):
            q[k, i] = max(q[k + 1, i], q[k, i + 1]) + times[k, order[i]]


@njit(cache=True)
def rate_places(job, size, times, e, q, done, value):
    """value[i]: makespan with `job` at place i of `size` others (Taillard's acceleration)."""
    for i in range(size + 1):
        done[i] = value[i] = 0
    for k in range(times.shape[0]):
        time = times[k, job]
        heads, tails = e[k], q[k]
        for i in range(size + 1):
            done[i] = max(done[i], heads[i]) + time
            value[i] = max(value[i], done[i] + tails[i])


@njit(cache=True)
def segment_value(order, lo, hi, times, e, q, front):
    """Makespan when only places lo..hi of `order` differ from the order of the heads `e` and tails `q`."""
    m = front.size
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
    """Heads, tails and two rows of values for insertions; see update_heads, update_tails, rate_places."""
    m, n = times.shape
    table = np.zeros((2, m, n + 1), np.int32)
    rows = np.zeros((2, n + 1), np.int32)
    return table[0], table[1], rows[0], rows[1]


def lower_bound(times):
    """Longest job and, per machine, least head + load + least tail: a makespan no schedule beats."""
    heads = np.cumsum(times, axis=0) - times
    tails = times.sum(axis=0) - heads - times
    loads = heads.min(axis=1) + times.sum(axis=1) + tails.min(axis=1)
    return int(max(times.sum(axis=0).max(), loads.max()))


def job_order(state, n, m, calc_makespan_fn):
    """The order of a machine that all machines had best follow, int32 (n,), and the makespan it gives."""
    given, best, value = state.sequence, None, np.inf
    places = np.argsort(given, kind="stable").reshape(n, m)
    for order in np.unique(np.argsort(places, axis=0).T, axis=0).astype(np.int32):
        state.sequence = np.repeat(order, m)
        rated = calc_makespan_fn(state)
        if rated < value:
            best, value = order, rated
    state.sequence = given
    return best, int(value)


def open_order(env_data, state, calc_makespan_fn):
    """What a search begins with: times `(m, n)`, makespan of `state`, its order of jobs and the makespan."""
    times = np.array(env_data["processing_times"], dtype=np.int32)
    given = calc_makespan_fn(state)
    order, value = job_order(state, env_data["num_jobs"], env_data["num_machines"], calc_makespan_fn)
    return times, given, order, value


def close_order(env_data, state, order, value, given):
    """Give `state` the order on all machines, unless its makespan `value` is worse than what was given."""
    if value <= given:
        state.sequence = np.repeat(order, env_data["num_machines"])
    return state
