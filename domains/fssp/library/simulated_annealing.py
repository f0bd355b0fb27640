"""Simulated annealing over random moves of single jobs.

Method: a random job goes to a random place at most REACH away; the new makespan follows from the heads before
and the tails behind the places that change. Metropolis acceptance; the temperature falls geometrically from
START to END mean processing times over the whole share of the budget.

Source: I. H. Osman, C. N. Potts, Simulated annealing for permutation flow-shop scheduling, 1989.

Complexity: O(r m) per move over r places on m machines, O(n m) per accepted one.
"""

import numpy as np
from numba import njit

START = 0.15  # tunable: float 0.01..2.0
END = 0.02  # tunable: float 0.001..0.5
REACH = 200  # tunable: int 1..500
CHUNK_OPERATIONS = 2_000_000  # moves of one kernel call times operations of the instance


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
def move_job(order, source, target):
    """Put the job at place `source` at place `target`; the jobs between move up by one place."""
    job = order[source]
    step = 1 if target > source else -1
    for i in range(source, target, step):
        order[i] = order[i + step]
    order[target] = job


@njit(cache=True)
def anneal(moves, reach, temperature, order, best, times, e, q, front, status, rng):
    """Make `moves` random moves at one temperature; status: the makespans of `order` and of `best`."""
    n = order.size
    for _ in range(moves):
        source = int(rng.random() * n)
        target = source + int((2.0 * rng.random() - 1.0) * (reach + 1))
        target = min(max(target, 0), n - 1)
        if source == target:
            continue
        move_job(order, source, target)
        lo, hi = min(source, target), max(source, target)
        value = segment_value(order, lo, hi, times, e, q, front)
        loss = value - status[0]
        if loss > 0 and rng.random() >= np.exp(-loss / temperature):
            move_job(order, target, source)
            continue
        status[0] = value
        update_heads(order, lo, n, times, e)
        update_tails(order, n, times, q)
        if value < status[1]:
            status[1] = value
            best[:] = order


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
    """Anneal from `state` until the share of the budget is spent or a lower bound is met."""
    n, m, budget, rng = env_data["num_jobs"], env_data["num_machines"], env_data["budget"], env_data["rng"]
    times = np.array(env_data["processing_times"], dtype=np.int32)
    given = calc_makespan_fn(state)
    order, value = job_order(state, n, m, calc_makespan_fn)
    best, status, target = order.copy(), np.array([value, value], np.int64), lower_bound(times)
    e, q, _, _ = work_arrays(times)
    update_heads(order, 0, n, times, e)
    update_tails(order, n, times, q)
    front, chunk = np.zeros(m, np.int32), max(50, CHUNK_OPERATIONS // times.size)
    while n > 1 and status[1] > target and not budget.exhausted():
        scale = max(START * (END / START) ** (1.0 - budget.remaining()) * times.mean(), 1e-9)
        anneal(chunk, REACH, scale, order, best, times, e, q, front, status, rng)
        budget.charge(chunk)
    if status[1] <= given:
        state.sequence = np.repeat(best, m)
    return state
