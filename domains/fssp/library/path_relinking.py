"""Path relinking in a pool of local optima.

Method: the pool starts with the given order and descents from kicked copies. Again and again an order moves a
random part of the way towards another one of the pool: a place where they differ is drawn and the job the
guide has there is put there. A descent follows; the result replaces the worst member if it is shorter and no
copy. When nothing has come in for PATIENCE rounds all but the best member are kicked and improved anew.

Source: C. R. Reeves, T. Yamada, Genetic algorithms, path relinking, and the flowshop sequencing problem,
1998; F. Glover, Tabu search and adaptive memory programming, 1997.

Complexity: O(n²) per path and O(n m) per reinsertion for n jobs on m machines; uses its whole share.
"""

import numpy as np
from numba import njit

POOL = 8  # tunable: int 2..50
KICKS = 8  # tunable: int 1..50
PATIENCE = 60  # tunable: int 5..2000
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


# exchangeable: path-point
@njit(cache=True)
def path_point(order, guide, rng):
    """Move `order` in place towards `guide`, 30 to 70 % of the places in which they differ."""
    n = order.size
    apart = 0
    for i in range(n):
        apart += order[i] != guide[i]
    for _ in range(int(apart * (0.3 + 0.4 * rng.random()))):
        i = int(rng.random() * n)
        tried = 0
        while order[i] == guide[i] and tried < n:
            i = (i + 1) % n
            tried += 1
        source = 0
        while order[source] != guide[i]:
            source += 1
        step = 1 if i > source else -1
        for place in range(source, i, step):
            order[place] = order[place + step]
        order[i] = guide[i]


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


def kicked(best, times, work, budget, rng):
    """Makespan and order of a local optimum near `best`."""
    order = best.copy()
    kick(order, KICKS, KICKS, rng)
    return improve(order, times, work, budget, rng), order


def relinked(pool, times, work, budget, rng):
    """Makespan and order of a local optimum near a path between two members of the pool."""
    origin, guide = rng.permutation(len(pool))[:2]
    order = pool[origin][1].copy()
    path_point(order, pool[guide][1], rng)
    return improve(order, times, work, budget, rng), order


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
        if len(pool) < POOL and (len(pool) < 2 or failures % 2 == 0):
            found = kicked(pool[0][1], times, work, budget, rng)
        else:
            found = relinked(pool, times, work, budget, rng)
        failures = 0 if admit(pool, *found, POOL) else failures + 1
    if pool[0][0] <= given:
        state.sequence = np.repeat(pool[0][1], m)
    return state
