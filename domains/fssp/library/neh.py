"""NEH: jobs enter the order by decreasing priority, each at the place that makes the partial order shortest.

Method: the priority is the total time of a job ("total"), the total plus the standard deviation of its times
("deviation") or the larger of two position-weighted totals ("weighted"). Ties between places are broken by
the exchangeable rule. The reverse problem (machines in reverse order) is tried too when BOTH_WAYS is 1.

Source: M. Nawaz, E. E. Enscore, I. Ham, A heuristic algorithm for the m-machine, n-job flow-shop sequencing
problem, 1983; E. Taillard, Some efficient heuristic methods for the flow shop sequencing problem, 1990;
P. J. Kalczynski, J. Kamburowski, An improved NEH heuristic to minimize makespan in permutation flow shops,
2008 (weights); X. Dong, H. Huang, P. Chen, 2008 (deviation); tie-breaking of V. Fernandez-Viagas,
J. M. Framinan, 2014.

Complexity: O(n² m) for n jobs on m machines.
"""

import numpy as np
from numba import njit

PRIORITY = "total"  # tunable: choice total deviation weighted
BOTH_WAYS = 1  # tunable: int 0..1


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


def work_arrays(times):
    """Heads, tails and two rows of values for insertions; see update_heads, update_tails, rate_places."""
    m, n = times.shape
    table = np.zeros((2, m, n + 1), np.int32)
    rows = np.zeros((2, n + 1), np.int32)
    return table[0], table[1], rows[0], rows[1]


# exchangeable: job-priority
def priorities(times, rule):
    """Priority of every job, float (n,), the highest enters first; `times` is (m, n)."""
    m = times.shape[0]
    if rule == "total":
        return times.sum(axis=0).astype(np.float64)
    if rule == "deviation":
        return times.sum(axis=0) + times.std(axis=0)
    step = np.arange(m, dtype=np.float64)
    half = (m - 1) * (m - 2) / 2.0
    forward, backward = half + (m - 1 - step), half + step
    return np.minimum(forward @ times, backward @ times)


def construct(times, rule, budget, rng):
    """An order of the jobs by insertion, and its makespan."""
    order = np.argsort(-priorities(times, rule), kind="stable").astype(np.int32)
    work, value = work_arrays(times), 0
    for size, job in enumerate(order.copy()):
        value = insert_job(job, order, size, times, work, rng)
        budget.charge(1)
    return order, value


def run(env_data, state, calc_makespan_fn):
    """Give `state` the better of the constructions from the left and, with BOTH_WAYS, from the right."""
    budget, rng = env_data["budget"], env_data["rng"]
    times = np.array(env_data["processing_times"], dtype=np.int32)
    order, value = construct(times, PRIORITY, budget, rng)
    if BOTH_WAYS and not budget.exhausted():
        other, rated = construct(np.ascontiguousarray(times[::-1]), PRIORITY, budget, rng)
        if rated < value:
            order = other[::-1]
    state.sequence = np.repeat(order, times.shape[0])
    return state
