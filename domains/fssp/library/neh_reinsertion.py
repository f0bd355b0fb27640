"""NEH with reinsertions: after each insertion the neighbours of the new job are reinserted too (FRB4).

Method: as NEH, jobs enter by decreasing total time at their best places; then the jobs at most REACH places
away from the new one are taken out and put at their best places. The problem with time reversed is tried too,
and while the share lasts up to RESTARTS constructions from blurred priorities; the best order is kept.

Source: S. F. Rad, R. Ruiz, N. Boroojerdian, New high performing heuristics for minimizing makespan in
permutation flowshops, 2009; tie-breaking of V. Fernandez-Viagas, J. M. Framinan, 2014.

Complexity: O(n² r m) for n jobs on m machines and reach r.
"""

import numpy as np
from numba import njit

REACH = 4  # tunable: int 0..50
RESTARTS = 2  # tunable: int 1..200
NOISE = 0.1  # tunable: float 0.0..1.0


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
def grow(job, size, reach, order, times, work, near, rng):
    """Insert `job` among the first `size` jobs of `order`, then reinsert it and the jobs around it."""
    value = insert_job(job, order, size, times, work, rng)
    place = 0
    while order[place] != job:
        place += 1
    first, count = max(0, place - reach), 0
    for i in range(first, min(size, place + reach) + 1):
        near[count] = order[i]
        count += 1
    for i in range(count):
        remove_job(near[i], order, size + 1)
        value = insert_job(near[i], order, size, times, work, rng)
    return value


def work_arrays(times):
    """Heads, tails and two rows of values for insertions; see update_heads, update_tails, rate_places."""
    m, n = times.shape
    table = np.zeros((2, m, n + 1), np.int32)
    rows = np.zeros((2, n + 1), np.int32)
    return table[0], table[1], rows[0], rows[1]


def construct(times, reach, noise, budget, rng):
    """An order of the jobs and its makespan; no job is reinserted once the share is spent."""
    priority = times.sum(axis=0) * (1.0 + noise * rng.random(times.shape[1]))
    order = np.argsort(-priority, kind="stable").astype(np.int32)
    near, work, value = order.copy(), work_arrays(times), 0
    for size, job in enumerate(order.copy()):
        if reach > 0 and budget.exhausted():
            reach = 0
        value = grow(job, size, reach, order, times, work, near, rng)
        budget.charge(2 * reach + 1)
    return order, value


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of RESTARTS constructions, in turn forwards and backwards in time."""
    budget, rng = env_data["budget"], env_data["rng"]
    times = np.array(env_data["processing_times"], dtype=np.int32)
    turned = np.ascontiguousarray(times[::-1])
    best, value = None, np.inf
    for restart in range(RESTARTS):
        noise = NOISE if restart > 1 else 0.0
        order, rated = construct(turned if restart % 2 else times, REACH, noise, budget, rng)
        if rated < value:
            best, value = order[::-1] if restart % 2 else order, rated
        if budget.exhausted():
            break
    state.sequence = np.repeat(best, times.shape[0])
    return state
