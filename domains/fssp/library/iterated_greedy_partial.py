"""Iterated greedy with local search on the partial order.

Method: a few random jobs leave the order; single jobs of the rest are reinserted until that helps no more;
the removed jobs come back one by one at their best places; reinsertions follow until a local optimum; a
Metropolis test at constant temperature decides from which order the search goes on.

Source: R. Ruiz, T. Stützle, A simple and effective iterated greedy algorithm for the permutation flowshop
scheduling problem, 2007; J. Dubois-Lacoste, F. Pagnozzi, T. Stützle, An iterated greedy algorithm with
optimization of partial solutions for the makespan permutation flowshop problem, 2017; V. Fernandez-Viagas,
J. M. Framinan, On insertion tie-breaking rules in heuristics for the permutation flowshop scheduling
problem, 2014.

Complexity: O(n m) per reinsertion for n jobs on m machines; uses its whole share of the budget.
"""

import numpy as np
from numba import njit

REMOVED = 2  # tunable: int 1..20
TEMPERATURE = 0.4  # tunable: float 0.0..5.0
CHUNK_OPERATIONS = 2_000_000  # reinsertions of one kernel call times operations of the instance


# exchangeable: tie-breaking
@njit(cache=True)
def choose_place(job, order, size, times, e, value, rng):
    """Of the places 0..size with the least `value` the one that leaves the least idle time behind `job`,
    estimated from the heads `e` as by Fernandez-Viagas and Framinan (2014)."""
    chosen, least = 0, 2**40
    best = value[: size + 1].min()
    for place in range(size + 1):
        if value[place] != best:
            continue
        idle = 0
        done = e[0, place] + times[0, job]
        after = done + times[0, order[place]] if place < size else 0
        for k in range(1, times.shape[0]):
            start = max(done, e[k, place])
            if place == size:
                idle += start - e[k, place]
            else:
                idle += (
                    start - e[k, place + 1] + times[k, order[place]] + max(after - start - times[k, job], 0)
                )
                after = max(after, start + times[k, job]) + times[k, order[place]]
            done = start + times[k, job]
        if idle < least:
            chosen, least = place, idle
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


@njit(cache=True)
def remove_job(job, order, size):
    """Take `job` out of the first `size` jobs of `order`; the jobs behind it move up."""
    i = 0
    while order[i] != job:
        i += 1
    for k in range(i, size - 1):
        order[k] = order[k + 1]


@njit(cache=True)
def shuffle(queue, size, rng):
    """Put the first `size` entries of `queue` in random order."""
    for i in range(size - 1, 0, -1):
        k = int(rng.random() * (i + 1))
        queue[i], queue[k] = queue[k], queue[i]


@njit(cache=True)
def descend(steps, order, size, makespan, times, work, queue, status, rng):
    """At most `steps` reinsertions of single jobs among the first `size` of `order`.

    `queue` holds these jobs, status[0] the next one's place in it and status[1] the failures since the last
    gain; as many failures as jobs are a local optimum. Returns the steps made and the makespan.
    """
    made = 0
    while made < steps and status[1] < size:
        if status[0] == 0:
            shuffle(queue, size, rng)
        job = queue[status[0]]
        status[0] = (status[0] + 1) % size
        remove_job(job, order, size)
        value = insert_job(job, order, size - 1, times, work, rng)
        status[1] = 0 if value < makespan else status[1] + 1
        makespan = value
        made += 1
    return made, makespan


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


@njit(cache=True)
def iterate(steps, target, count, temperature, times, orders, memory, work, status, rng):
    """At least `steps` reinsertions of iterated greedy, or until the best makespan meets `target`.

    orders: the order at work, the current and the best one. memory: queue of the descent, removed jobs.
    status: two entries of the descent, phase (0 destroy, 1 improve the rest, 2 improve the whole), makespans
    of the three orders. Returns the steps made.
    """
    order, current, best = orders
    queue, removed = memory
    n = order.size
    made = 0
    while made < steps and status[5] > target:
        size = n if status[2] == 2 else n - count
        if status[2] == 0:
            order[:] = current
            remove_jobs(order, count, removed, rng)
            queue[:size] = order[:size]
            status[0], status[1], status[2], status[3] = 0, 0, 1, 2**30
            made += 1
            continue
        moves, status[3] = descend(steps - made, order, size, status[3], times, work, queue, status, rng)
        made += moves
        if status[1] < size:
            break
        if status[2] == 1:
            for i in range(count):
                status[3] = insert_job(removed[i], order, size + i, times, work, rng)
            queue[:] = order
            status[0], status[1], status[2] = 0, 0, 2
            made += count
            continue
        status[2] = 0
        if status[3] < status[5]:
            best[:] = order
            status[5] = status[3]
        loss = status[3] - status[4]
        if loss <= 0 or rng.random() < np.exp(-loss / temperature):
            current[:] = order
            status[4] = status[3]
    return made


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


def lower_bound(times):
    """Longest job and, per machine, least head + load + least tail: a makespan no schedule beats."""
    heads = np.cumsum(times, axis=0) - times
    tails = times.sum(axis=0) - heads - times
    loads = heads.min(axis=1) + times.sum(axis=1) + tails.min(axis=1)
    return int(max(times.sum(axis=0).max(), loads.max()))


def run(env_data, state, calc_makespan_fn):
    """Improve `state` until the share of the budget is spent or a lower bound is met."""
    n, m, budget, rng = env_data["num_jobs"], env_data["num_machines"], env_data["budget"], env_data["rng"]
    times = np.array(env_data["processing_times"], dtype=np.int32)
    given = calc_makespan_fn(state)
    order, value = job_order(state, n, m, calc_makespan_fn)
    orders = (order, order.copy(), order.copy())
    memory = (order.copy(), np.zeros(n, np.int32))
    status = np.array([0, 0, 2, value, value, value], np.int64)
    count, target, work = min(REMOVED, n - 1), lower_bound(times), work_arrays(times)
    temperature = max(TEMPERATURE * times.mean() / 10.0, 1e-9)
    chunk = max(50, CHUNK_OPERATIONS // times.size)
    while status[5] > target and count > 0 and not budget.exhausted():
        budget.charge(iterate(chunk, target, count, temperature, times, orders, memory, work, status, rng))
    if status[5] <= given:
        state.sequence = np.repeat(orders[2], m)
    return state
