"""Insertion of jobs at their best places, and descents that do nothing else.

The file brings ``choose_place``, which breaks ties; :func:`iterate` also asks it for ``rebuild``.
"""

import numpy as np
from numba import njit
from parts.completion import (
    close_order,
    lower_bound,
    open_order,
    rate_places,
    work_arrays,
)
from parts.taker import choose_place, rebuild

CHUNK_OPERATIONS = 2_000_000  # reinsertions of one kernel call times operations of the instance


@njit(cache=True)
def insert_job(job, order, size, times, work, rng):
    """Put `job` at its best place among the first `size` jobs of `order`; the makespan with it."""
    value = rate_places(job, order, size, times, work)
    place = choose_place(job, order, size, times, work[0], value, rng)
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
def next_of(queue, size, status, rng):
    """The next one of the first `size` entries of `queue`, shuffled for every round; status[0]: its place."""
    if status[0] == 0:
        shuffle(queue, size, rng)
    entry = queue[status[0]]
    status[0] = (status[0] + 1) % size
    return entry


@njit(cache=True)
def descend(steps, order, size, makespan, times, work, queue, status, rng):
    """At most `steps` reinsertions of single jobs among the first `size` of `order`.

    `queue` holds these jobs, status[0] the next one's place in it and status[1] the failures since the last
    gain; as many failures as jobs are a local optimum. Returns the steps made and the makespan.
    """
    made = 0
    while made < steps and status[1] < size:
        job = next_of(queue, size, status, rng)
        remove_job(job, order, size)
        value = insert_job(job, order, size - 1, times, work, rng)
        status[1] = 0 if value < makespan else status[1] + 1
        makespan = value
        made += 1
    return made, makespan


def improve(order, times, work, budget, rng):
    """Descend from `order` in place until a local optimum or the end of the share; the makespan."""
    n = order.size
    status, value = np.zeros(2, np.int64), 2**30
    queue, chunk = order.copy(), max(50, CHUNK_OPERATIONS // times.size)
    while status[1] < n:
        made, value = descend(chunk, order, n, value, times, work, queue, status, rng)
        budget.charge(made)
        if budget.exhausted():
            break
    return value


@njit(cache=True)
def iterate(steps, target, temperature, times, orders, changes, queue, work, status, rng):
    """At least `steps` reinsertions of descents from rebuilt orders, or until the best one meets `target`.

    orders: the order at work, the current and the best one. status: two entries of the descent (all jobs
    failed: start anew), makespans of the three orders. Returns the steps made.
    """
    order, current, best = orders
    made = 0
    while made < steps and status[4] > target:
        moves, status[2] = descend(
            steps - made, order, order.size, status[2], times, work, queue, status, rng
        )
        made += moves
        if status[1] < order.size:
            break
        if status[2] < status[4]:
            best[:] = order
            status[4] = status[2]
        loss = status[2] - status[3]
        if loss <= 0 or rng.random() < np.exp(-loss / temperature):
            current[:] = order
            status[3] = status[2]
        order[:] = current
        status[2] = rebuild(order, changes, times, work, rng)
        made += changes.size
        queue[:] = order
        status[0] = status[1] = 0
    return made


def rebuild_repeatedly(env_data, state, calc_makespan_fn, changes, temperature):
    """Descend from rebuilt orders until the share of the budget is spent or a lower bound is met.

    `changes` goes to ``rebuild``; `temperature` is in tenths of the mean processing time.
    """
    n, budget, rng = env_data["num_jobs"], env_data["budget"], env_data["rng"]
    times, given, order, value = open_order(env_data, state, calc_makespan_fn)
    orders, queue = (order, order.copy(), order.copy()), order.copy()
    status = np.array([0, 0, value, value, value], np.int64)
    target, work = lower_bound(times), work_arrays(times)
    heat, chunk = max(temperature * times.mean() / 10.0, 1e-9), max(50, CHUNK_OPERATIONS // times.size)
    while n > 1 and status[4] > target and not budget.exhausted():
        budget.charge(iterate(chunk, target, heat, times, orders, changes, queue, work, status, rng))
    return close_order(env_data, state, orders[2], status[4], given)
