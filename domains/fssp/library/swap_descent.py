"""Descent by exchanges of two jobs.

Method: pairs of places at most REACH apart are tried in random order of the first place; an exchange that
shortens the schedule is made at once. Heads before and tails behind the two places are known, so only the
places between them are computed. A round without gain is a local optimum.

Source: I. H. Osman, C. N. Potts, Simulated annealing for permutation flow-shop scheduling, 1989
(interchange neighbourhood); E. Nowicki, C. Smutnicki, 1996 (use of heads and tails).

Complexity: O(r m) per pair at distance r on m machines.
"""

import numpy as np
from numba import njit

REACH = 20  # tunable: int 1..500
CHUNK_OPERATIONS = 2_000_000  # operations computed in one kernel call


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


@njit(cache=True)
def shuffle(queue, size, rng):
    """Put the first `size` entries of `queue` in random order."""
    for i in range(size - 1, 0, -1):
        k = int(rng.random() * (i + 1))
        queue[i], queue[k] = queue[k], queue[i]


@njit(cache=True)
def exchange(limit, reach, makespan, order, times, e, q, front, queue, status, rng):
    """Exchanges from the places in `queue` until about `limit` operations were computed.

    status: place in the queue, failures in a row. Returns operations computed and the makespan.
    """
    n, m = order.size, front.size
    made = 0
    while made < limit and status[1] < n:
        if status[0] == 0:
            shuffle(queue, n, rng)
        i = queue[status[0]]
        status[0] = (status[0] + 1) % n
        status[1] += 1
        for k in range(i + 1, min(i + reach + 1, n)):
            order[i], order[k] = order[k], order[i]
            value = segment_value(order, i, k, times, e, q, front)
            made += (k - i + 1) * m
            if value < makespan:
                makespan = value
                update_heads(order, i, n, times, e)
                update_tails(order, n, times, q)
                made += 2 * n * m
                status[1] = 0
            else:
                order[i], order[k] = order[k], order[i]
        made += 1
    return made, makespan


def work_arrays(times):
    """Heads, tails and two rows of values for insertions; see update_heads, update_tails, rate_places."""
    m, n = times.shape
    table = np.zeros((2, m, n + 1), np.int32)
    rows = np.zeros((2, n + 1), np.int32)
    return table[0], table[1], rows[0], rows[1]


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


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum of the exchanges."""
    n, m, budget, rng = env_data["num_jobs"], env_data["num_machines"], env_data["budget"], env_data["rng"]
    times = np.array(env_data["processing_times"], dtype=np.int32)
    given = calc_makespan_fn(state)
    order, value = job_order(state, n, m, calc_makespan_fn)
    e, q, _, _ = work_arrays(times)
    update_heads(order, 0, n, times, e)
    update_tails(order, n, times, q)
    queue, front, status = np.arange(n, dtype=np.int32), np.zeros(m, np.int32), np.zeros(2, np.int64)
    while status[1] < n and not budget.exhausted():
        made, value = exchange(CHUNK_OPERATIONS, REACH, value, order, times, e, q, front, queue, status, rng)
        budget.charge(1 + made // times.size)
    if value <= given:
        state.sequence = np.repeat(order, m)
    return state
