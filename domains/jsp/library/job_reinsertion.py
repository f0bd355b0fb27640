"""Large neighbourhood search: whole jobs are taken out and inserted again, operation by operation.

Method: a few random jobs leave the schedule. Each comes back in technological order; an operation goes to
the place on its machine where head + time + tail is smallest among the places that come, in a topological
order by start times, after its predecessor. The new schedule is kept when it is not longer than the old one
by more than a fraction that shrinks to nothing over the share of the budget.

Source: F. Werner, A. Winkler, Insertion techniques for the heuristic solution of the job shop problem, 1995;
T. Kis, Job-shop scheduling with processing alternatives, 2003 (insertion of a job).

Complexity: O(m N) per job for m machines and N operations.
"""

import numpy as np
from numba import njit

JOBS = 2  # tunable: int 1..10
TOLERANCE = 0.003  # tunable: float 0.0..0.05
NOISE = 0.02  # tunable: float 0.0..0.5
CHUNK_WORK = 1_500_000  # operations visited by one kernel call, about


@njit(cache=True)
def update_heads(order, start, p, jp, mp, c):
    """Completion times c of the operations at topological places `start` and later."""
    for i in range(start, order.size):
        x = order[i]
        c[x] = max(c[jp[x]], c[mp[x]]) + p[x]


@njit(cache=True)
def update_tails(order, end, p, js, ms, t):
    """Tails t (own time included) of the operations at topological places `end` and earlier."""
    for i in range(end, -1, -1):
        x = order[i]
        t[x] = max(t[js[x]], t[ms[x]]) + p[x]


@njit(cache=True)
def longest_path(n_jobs, n_machines, t):
    """Makespan: the longest tail of a job's first operation."""
    makespan = 0
    for first in range(0, n_jobs * n_machines, n_machines):
        makespan = max(makespan, t[first])
    return makespan


@njit(cache=True)
def lay_out(sequence, problem, topology, links):
    """Set up order, machine predecessors and successors, heads and tails of a sequence; its makespan."""
    n_jobs, n_machines, machine, p, jp, js = problem
    order, place = topology
    mp, ms, c, t = links
    n_ops = n_jobs * n_machines
    done = np.zeros(n_jobs, np.int32)
    last = np.full(n_machines, n_ops, np.int32)
    for i in range(n_ops):
        x = sequence[i] * n_machines + done[sequence[i]]
        done[sequence[i]] += 1
        order[i] = x
        place[x] = i
        k = machine[x]
        mp[x] = last[k]
        ms[x] = n_ops
        ms[last[k]] = x
        last[k] = x
    mp[n_ops] = ms[n_ops] = n_ops
    update_heads(order, 0, p, jp, mp, c)
    update_tails(order, n_ops - 1, p, js, ms, t)
    return longest_path(n_jobs, n_machines, t)


def prepare(env_data):
    """Arrays of an instance and of one schedule; operation k of job j has number j * machines + k.

    problem: numbers of jobs and machines; machine, time, job predecessor and job successor of an operation.
    topology: a topological order and the places in it. links: machine predecessors and successors,
    completion times, tails (own time included). work: critical path, heads in a move, moved operations and
    their marks. The number of operations stands for "none".
    """
    n, m = env_data["num_jobs"], env_data["num_machines"]
    size = n * m
    machine, p = np.full(size + 1, -1, np.int32), np.zeros(size + 1, np.int32)
    machine[:size] = np.asarray(env_data["machines_matrix"]).ravel()
    p[:size] = np.asarray(env_data["times_matrix"]).ravel()
    jp, js = np.arange(-1, size, dtype=np.int32), np.arange(1, size + 2, dtype=np.int32)
    jp[: size + 1 : m] = js[m - 1 :: m] = jp[size] = js[size] = size
    blank = [np.zeros(size + 1, np.int32) for _ in range(8)]
    topology, links = (np.zeros(size, np.int32), blank[0]), tuple(blank[1:5])
    return (n, m, machine, p, jp, js), topology, links, (*blank[5:], np.zeros(size + 1, np.bool_))


@njit(cache=True)
def link_machines(order, count, machine, mp, ms, last):
    """Machine predecessors and successors of the first `count` operations of a topological order."""
    n_ops = order.size
    last[:] = n_ops
    for i in range(count):
        x = order[i]
        mp[x] = last[machine[x]]
        ms[x] = n_ops
        ms[mp[x]] = x
        last[machine[x]] = x
    mp[n_ops] = ms[n_ops] = n_ops


@njit(cache=True)
def insertion_place(x, count, floor, before, after, order, p, machine, mp, c, t, noise, rng):
    """Place in `order` (at least `floor`) for x with at least `before` ahead of it and `after` behind it."""
    n_ops = order.size
    chosen, value = count, np.float64(2**62)
    last = n_ops
    for i in range(count):
        y = order[i]
        if machine[y] != machine[x]:
            continue
        last = y
        if i >= floor:
            rated = (max(before, c[mp[y]]) + p[x] + max(after, t[y])) * (1.0 + noise * rng.random())
            if rated < value:
                chosen, value = i, rated
    rated = (max(before, c[last]) + p[x] + after) * (1.0 + noise * rng.random())
    return count if rated < value else chosen


@njit(cache=True)
def reinsert(job, count, problem, order, links, last, noise, rng):
    """Insert the operations of `job` into a partial topological order of `count` operations."""
    n_jobs, n_machines, machine, p, jp, js = problem
    mp, ms, c, t = links
    rest = np.int64(0)
    for k in range(n_machines):
        rest += p[job * n_machines + k]
    floor, done = 0, np.int64(0)
    for k in range(n_machines):
        x = job * n_machines + k
        rest -= p[x]
        link_machines(order, count, machine, mp, ms, last)
        update_heads(order[:count], 0, p, jp, mp, c)
        update_tails(order, count - 1, p, js, ms, t)
        if k > 0:
            done = np.int64(c[x - 1])
        place = insertion_place(x, count, floor, done, rest, order, p, machine, mp, c, t, noise, rng)
        for i in range(count, place, -1):
            order[i] = order[i - 1]
        order[place] = x
        floor = place + 1
        count += 1
    return count


@njit(cache=True)
def take_out(jobs, problem, order, c, out):
    """Copy `order`, sorted by start times and without the operations of `jobs`, to `out`; the number left."""
    n_jobs, n_machines, machine, p, jp, js = problem
    starts = np.empty(order.size, np.int64)
    for i in range(order.size):
        starts[i] = c[order[i]] - p[order[i]]
    count = 0
    for i in np.argsort(starts, kind="mergesort"):
        x = order[i]
        if not (jobs == x // n_machines).any():
            out[count] = x
            count += 1
    for x in range(order.size):  # the operations taken out must not be seen as predecessors
        if (jobs == x // n_machines).any():
            c[x] = 0
    return count


@njit(cache=True)
def search(rounds, limit, n_out, noise, problem, links, order, trial, best, status, rng):
    """Take out and reinsert `n_out` jobs `rounds` times; `status` holds the best and the present makespan."""
    n_jobs, n_machines, machine, p, jp, js = problem
    mp, ms, c, t = links
    last = np.empty(n_machines, np.int32)
    jobs = np.empty(n_out, np.int64)
    for _ in range(rounds):
        for i in range(n_out):
            jobs[i] = int(rng.random() * n_jobs)
            while (jobs[:i] == jobs[i]).any():
                jobs[i] = int(rng.random() * n_jobs)
        link_machines(order, order.size, machine, mp, ms, last)
        update_heads(order, 0, p, jp, mp, c)
        count = take_out(jobs, problem, order, c, trial)
        t[:] = 0
        for job in jobs:
            count = reinsert(job, count, problem, trial, links, last, noise, rng)
        link_machines(trial, order.size, machine, mp, ms, last)
        update_heads(trial, 0, p, jp, mp, c)
        makespan = c.max()
        if makespan <= status[1] or makespan <= status[0] * limit:
            status[1] = makespan
            order[:] = trial
        if makespan < status[0]:
            status[0] = makespan
            best[:] = trial


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    problem, topology, links, _work = prepare(env_data)
    makespan = lay_out(np.array(state.sequence, dtype=np.int32), problem, topology, links)
    order = topology[0]
    best, trial = order.copy(), order.copy()
    n_out = min(JOBS, problem[0])
    status = np.array([makespan, makespan], np.int64)
    rounds = max(1, CHUNK_WORK // (2 * order.size * problem[1] * n_out))
    while not budget.exhausted():
        limit = 1.0 + TOLERANCE * budget.remaining()
        search(rounds, limit, n_out, NOISE, problem, links, order, trial, best, status, rng)
        budget.charge(rounds * n_out)
    state.sequence = best // np.int32(problem[1])
    return state
