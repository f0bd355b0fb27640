"""Variable-depth search: chains of reinsertions, of which the best beginning is kept.

Method: a chain takes the jobs in random order, at most DEPTH of them, and puts each at its best place other
than its own, even if the schedule gets longer; a job moves once in a chain. The chain is cut behind its
shortest schedule if that is shorter than the first one, and undone otherwise. ROUNDS chains per job without
gain end the search.

Source: S. Lin, B. W. Kernighan, An effective heuristic algorithm for the traveling-salesman problem, 1973
(variable depth); E. Taillard, Some efficient heuristic methods for the flow shop sequencing problem, 1990.

Complexity: O(n m) per reinsertion for n jobs on m machines, at most DEPTH per chain.
"""

import numpy as np
from numba import njit

DEPTH = 6  # tunable: int 1..50
ROUNDS = 3.0  # tunable: float 0.1..100.0
CHUNK_OPERATIONS = 2_000_000  # reinsertions of one kernel call times operations of the instance


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
def move_away(job, order, times, work, rng):
    """Put `job` at its best place other than its own, ties broken at random; the makespan then."""
    e, q, done, value = work
    size = order.size - 1
    own = 0
    while order[own] != job:
        own += 1
    remove_job(job, order, size + 1)
    update_heads(order, 0, size, times, e)
    update_tails(order, size, times, q)
    rate_places(job, size, times, e, q, done, value)
    chosen, ties = -1, 0
    for place in range(size + 1):
        if place == own or (chosen >= 0 and value[place] > value[chosen]):
            continue
        ties = ties + 1 if chosen >= 0 and value[place] == value[chosen] else 1
        if rng.random() * ties < 1.0:
            chosen = place
    for i in range(size, chosen, -1):
        order[i] = order[i - 1]
    order[chosen] = job
    return value[chosen]


@njit(cache=True)
def chains(steps, depth, patience, order, times, work, memory, status, rng):
    """Chains until about `steps` jobs moved or `patience` of them in a row failed.

    memory: queue of the jobs, the order at work, its best one in the chain. status: makespan, failures.
    Returns the jobs moved.
    """
    queue, trial, kept = memory
    made = 0
    while made < steps and status[1] < patience:
        trial[:] = order
        shuffle(queue, queue.size, rng)
        least = 2**30
        for job in queue[:depth]:
            value = move_away(job, trial, times, work, rng)
            made += 1
            if value < least:
                least = value
                kept[:] = trial
                if value < status[0]:
                    break
        status[1] = 0 if least < status[0] else status[1] + 1
        if least <= status[0]:
            status[0] = least
            order[:] = kept
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


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the chains bring nothing more or the share is spent."""
    n, m, budget, rng = env_data["num_jobs"], env_data["num_machines"], env_data["budget"], env_data["rng"]
    times = np.array(env_data["processing_times"], dtype=np.int32)
    given = calc_makespan_fn(state)
    order, value = job_order(state, n, m, calc_makespan_fn)
    memory, status = (order.copy(), order.copy(), order.copy()), np.array([value, 0], np.int64)
    patience, work = int(ROUNDS * n) + 1, work_arrays(times)
    chunk = max(50, CHUNK_OPERATIONS // times.size)
    while n > 1 and status[1] < patience and not budget.exhausted():
        budget.charge(chains(chunk, DEPTH, patience, order, times, work, memory, status, rng))
    if status[0] <= given:
        state.sequence = np.repeat(order, m)
    return state
