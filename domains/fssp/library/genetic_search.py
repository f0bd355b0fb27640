"""Steady-state genetic search with similar-block-order crossover and descents.

Method: parents are drawn by binary tournaments. A child keeps the runs of at least two jobs that its parents
have at the same places, takes the rest up to a random cut from one parent and fills up in the order of the
other; some children are mutated by moves of single jobs; all are improved by reinsertions. A child that is
shorter than the worst member and no copy replaces it. After PATIENCE children without entry the population
is drawn anew around the best member.

Source: R. Ruiz, C. Maroto, J. Alcaraz, Two new robust genetic algorithms for the flowshop scheduling problem,
2006.

Complexity: O(n²) per child and O(n m) per reinsertion for n jobs on m machines; uses its whole share.
"""

import numpy as np
from numba import njit

POOL = 20  # tunable: int 4..100
MUTATION = 0.3  # tunable: float 0.0..1.0
KICKS = 10  # tunable: int 1..50
PATIENCE = 200  # tunable: int 10..5000
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


# exchangeable: kick
@njit(cache=True)
def kick(order, swaps, moves, rng):
    """Change `order` by exchanges of random neighbours and by moves of random jobs to random places."""
    n = order.size
    for _ in range(swaps):
        i = int(rng.random() * (n - 1))
        order[i], order[i + 1] = order[i + 1], order[i]
    for _ in range(moves):
        i, k = int(rng.random() * n), int(rng.random() * n)
        job = order[i]
        step = 1 if k > i else -1
        for place in range(i, k, step):
            order[place] = order[place + step]
        order[k] = job


# exchangeable: crossover
@njit(cache=True)
def cross(first, second, child, rng):
    """Similar-block-order crossover of two orders into `child` (Ruiz, Maroto and Alcaraz, SBOX)."""
    n = first.size
    taken = np.zeros(n, np.bool_)
    cut = int(rng.random() * (n + 1))
    for i in range(n):
        same = first[i] == second[i]
        before = i > 0 and first[i - 1] == second[i - 1]
        behind = i + 1 < n and first[i + 1] == second[i + 1]
        if i < cut or (same and (before or behind)):
            child[i] = first[i]
            taken[first[i]] = True
        else:
            child[i] = -1
    read = 0
    for i in range(n):
        if child[i] < 0:
            while taken[second[read]]:
                read += 1
            child[i] = second[read]
            taken[second[read]] = True


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


def admit(pool, value, order, capacity):
    """Put an order into the sorted pool unless it is a copy or too long; whether it went in."""
    if any(value == rated and (order == member).all() for rated, member in pool):
        return False
    pool.append((value, order))
    pool.sort(key=lambda entry: entry[0])
    return len(pool) <= capacity or pool.pop()[1] is not order


def tournament(pool, rng):
    """The shorter one of two random members."""
    return pool[int(rng.integers(len(pool), size=2).min())][1]


def offspring(pool, rng):
    """A child of two members or, the rather the smaller the population, a kicked copy of the best one."""
    if len(pool) < 2 or rng.random() * POOL > 2 * len(pool):
        child = pool[0][1].copy()
        kick(child, KICKS, KICKS, rng)
        return child
    child = np.empty_like(pool[0][1])
    cross(tournament(pool, rng), tournament(pool, rng), child, rng)
    if rng.random() < MUTATION:
        kick(child, 0, 2, rng)
    return child


def run(env_data, state, calc_makespan_fn):
    """Improve `state` until the share of the budget is spent or a lower bound is met."""
    n, m, budget, rng = env_data["num_jobs"], env_data["num_machines"], env_data["budget"], env_data["rng"]
    times = np.array(env_data["processing_times"], dtype=np.int32)
    given, work, target = calc_makespan_fn(state), work_arrays(times), lower_bound(times)
    order, value = job_order(state, n, m, calc_makespan_fn)
    pool, failures = [(value, order)], 0
    while n > 2 and pool[0][0] > target and not budget.exhausted():
        if failures >= PATIENCE:
            pool, failures = pool[:1], 0
        child = offspring(pool, rng)
        value = improve(child, times, work, budget, rng)
        failures = 0 if admit(pool, value, child, POOL) else failures + 1
    if pool[0][0] <= given:
        state.sequence = np.repeat(pool[0][1], m)
    return state
