"""Descent by reinsertion of single jobs, with Taillard's acceleration.

Method: jobs are taken in random order; each leaves the order and comes back at its best place, found for all
places at once from heads and tails. As many failures in a row as there are jobs are a local optimum.

Source: E. Taillard, Some efficient heuristic methods for the flow shop sequencing problem, 1990; R. Ruiz,
T. Stützle, A simple and effective iterated greedy algorithm for the permutation flowshop scheduling problem,
2007 (random order, stopping rule).

Complexity: O(n m) per reinsertion for n jobs on m machines.
"""

import numpy as np
from numba import njit

DESCENTS = 1  # tunable: int 1..20
CHUNK_OPERATIONS = 2_000_000  # reinsertions of one kernel call times operations of the instance


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
    """Descend from `state` to a local optimum DESCENTS times (plateaus are crossed at random)."""
    n, m, budget, rng = env_data["num_jobs"], env_data["num_machines"], env_data["budget"], env_data["rng"]
    times = np.array(env_data["processing_times"], dtype=np.int32)
    given = calc_makespan_fn(state)
    order, value = job_order(state, n, m, calc_makespan_fn)
    queue, work = order.copy(), work_arrays(times)
    chunk = max(50, CHUNK_OPERATIONS // times.size)
    for _ in range(DESCENTS):
        status = np.zeros(2, np.int64)
        while status[1] < n and not budget.exhausted():
            made, value = descend(chunk, order, n, value, times, work, queue, status, rng)
            budget.charge(made)
    if value <= given:
        state.sequence = np.repeat(order, m)
    return state
