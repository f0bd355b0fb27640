"""Destruction and construction: random jobs leave the order and come back at their best places.

Method: REMOVED random jobs (or a window of neighbours, by the exchangeable block) are taken out and inserted
one by one, in the order of their removal, where the partial makespan is least. One round; may lengthen the
schedule.

Source: R. Ruiz, T. Stützle, A simple and effective iterated greedy algorithm for the permutation flowshop
scheduling problem, 2007.

Complexity: O(n m) per removed job for n jobs on m machines.
"""

import numpy as np
from numba import njit

REMOVED = 6  # tunable: int 1..50


# exchangeable: tie-breaking
@njit(cache=True)
def choose_place(job, order, size, times, e, value, rng):
    """A random one of the places 0..size with the least `value`."""
    chosen, ties = 0, 1
    for place in range(1, size + 1):
        if value[place] < value[chosen]:
            chosen, ties = place, 1
        elif value[place] == value[chosen]:
            ties += 1
            if rng.random() * ties < 1.0:
                chosen = place
    return chosen


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
def insert_job(job, order, size, times, work, rng):
    """Put `job` at its best place among the first `size` jobs of `order`; the makespan with it."""
    e, q, done, value = work
    update_heads(order, 0, size, times, e)
    update_tails(order, size, times, q)
    rate_places(job, size, times, e, q, done, value)
    place = choose_place(job, order, size, times, e, value, rng)
    for i in range(size, place, -1):
        order[i] = order[i - 1]
    order[place] = job
    return value[place]


# exchangeable: destruction
@njit(cache=True)
def remove_jobs(order, count, removed, rng):
    """Move `count` random jobs from `order` to `removed`; the first size - count places stay in use."""
    size = order.size
    for i in range(count):
        place = int(rng.random() * size)
        removed[i] = order[place]
        size -= 1
        for k in range(place, size):
            order[k] = order[k + 1]


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
    """Remove and reinsert at most REMOVED jobs of `state`; the result may be worse."""
    n, m, rng = env_data["num_jobs"], env_data["num_machines"], env_data["rng"]
    times = np.array(env_data["processing_times"], dtype=np.int32)
    order, _ = job_order(state, n, m, calc_makespan_fn)
    count, work = min(REMOVED, n - 1), work_arrays(times)
    removed = np.zeros(max(count, 1), np.int32)
    remove_jobs(order, count, removed, rng)
    for i in range(count):
        insert_job(removed[i], order, n - count + i, times, work, rng)
        env_data["budget"].charge(1)
    state.sequence = np.repeat(order, m)
    return state
