"""Large neighbourhood search: whole jobs leave their machine orders and are inserted again.

Method: all operations of a few random jobs lose their places on their machines; the technological order
stays. They come back one by one, long ones first, each where the longest path through it is shortest. The
new schedule is kept when it is not longer than the old one, or than the best one by more than a fraction
that shrinks to nothing over the share of the budget.

Source: F. Werner, A. Winkler, Insertion techniques for the heuristic solution of the job shop problem, 1995;
R. Ruiz, T. Stützle, A simple and effective iterated greedy algorithm, 2007 (destruction and construction).

Complexity: O(N) per inserted operation for N operations.
"""

import numpy as np
from numba import njit

JOBS = 1  # tunable: int 1..10
TOLERANCE = 0.01  # tunable: float 0.0..0.1
NOISE = 0.5  # tunable: float 0.0..2.0
CHUNK_WORK = 400_000  # operations visited by one kernel call, about


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
def sort_topologically(jp, js, mp, ms, order):
    """Write a topological order into `order`; returns how many operations it holds (all unless cyclic)."""
    n_ops = order.size
    waits = np.empty(n_ops, np.int8)
    count = 0
    for x in range(n_ops):
        waits[x] = int(jp[x] != n_ops) + int(mp[x] != n_ops)
        if waits[x] == 0:
            order[count] = x
            count += 1
    read = 0
    while read < count:
        x = order[read]
        read += 1
        for y in (js[x], ms[x]):
            if y != n_ops:
                waits[y] -= 1
                if waits[y] == 0:
                    order[count] = y
                    count += 1
    return count


@njit(cache=True)
def best_gap(x, first, p, jp, js, ms, c, t):
    """The operation behind which x goes on its machine ("none": to the front), in the partial schedule."""
    n_ops = c.size - 1
    head, tail = c[jp[x]], t[js[x]]
    chosen, value = n_ops, np.int64(2**62)
    before, after = n_ops, first
    can_precede = True
    last_bound = n_ops  # last operation on the machine that may have to precede x
    y = first
    while y != n_ops:
        if c[y] <= head and t[y] >= p[y] + p[x] + tail:
            last_bound = y
        y = ms[y]
    is_open = last_bound == n_ops
    while can_precede:
        if is_open:
            rated = max(head, c[before]) + p[x] + max(tail, t[after])
            if rated < value:
                chosen, value = before, rated
        if after == n_ops:
            break
        is_open = is_open or after == last_bound
        can_precede = not (t[after] <= tail and c[after] >= head + p[x] + p[after])
        before, after = after, ms[after]
    return chosen, value


@njit(cache=True)
def insert_all(ranking, machine, p, jp, js, mp, ms, first, c, t, order):
    """Insert the operations in the order of `ranking`; `first` holds the first one of each machine."""
    n_ops = order.size
    for x in ranking:
        k = machine[x]
        before, value = best_gap(x, first[k], p, jp, js, ms, c, t)
        after = first[k] if before == n_ops else ms[before]
        if value == 2**62:  # only zero times can hide every gap; the topological order always shows one
            before, after = n_ops, first[k]
            seen = False
            for y in order:
                seen = seen or y == x
                if not seen and machine[y] == k and (y == first[k] or mp[y] != n_ops):
                    before, after = y, ms[y]
        mp[x], ms[x] = before, after
        if before == n_ops:
            first[k] = x
        else:
            ms[before] = x
        if after != n_ops:
            mp[after] = x
        sort_topologically(jp, js, mp, ms, order)
        update_heads(order, 0, p, jp, mp, c)
        update_tails(order, n_ops - 1, p, js, ms, t)


# exchangeable: destruction
@njit(cache=True)
def take_out(n_out, n_jobs, n_machines, chosen, rng):
    """Write the operations of `n_out` random jobs, drawn with replacement, into `chosen`; their number."""
    taken = np.zeros(n_jobs, np.bool_)
    count = 0
    for _ in range(n_out):
        job = int(rng.random() * n_jobs)
        if not taken[job]:
            taken[job] = True
            for k in range(n_machines):
                chosen[count] = job * n_machines + k
                count += 1
    return count


@njit(cache=True)
def search(rounds, limit, n_out, noise, problem, topology, links, saved, best, status, rng):
    """Take out and insert again `rounds` times; `status` holds the best and the present makespan.

    Returns the number of operations inserted.
    """
    n_jobs, n_machines, machine, p, jp, js = problem
    order, _place = topology
    mp, ms, c, t = links
    n_ops = order.size
    chosen, first = np.empty(n_ops, np.int32), np.empty(n_machines, np.int32)
    is_out = np.zeros(n_ops, np.bool_)
    inserted = 0
    for _ in range(rounds):
        saved[0, :n_ops], saved[1], saved[2], saved[3], saved[4] = order, mp, ms, c, t
        count = take_out(n_out, n_jobs, n_machines, chosen, rng)
        keys = np.empty(count, np.float64)
        is_out[:] = False
        for i in range(count):
            x = chosen[i]
            keys[i] = -p[x] * (1.0 + noise * rng.random())
            is_out[x] = True
            ms[mp[x]], mp[ms[x]] = ms[x], mp[x]
            mp[x] = ms[x] = mp[n_ops] = ms[n_ops] = n_ops
        first[:] = n_ops
        for x in range(n_ops):
            if mp[x] == n_ops and not is_out[x]:
                first[machine[x]] = x
        update_heads(order, 0, p, jp, mp, c)
        update_tails(order, n_ops - 1, p, js, ms, t)
        ranking = chosen[:count][np.argsort(keys)]
        insert_all(ranking, machine, p, jp, js, mp, ms, first, c, t, order)
        inserted += count
        makespan = longest_path(n_jobs, n_machines, t)
        if makespan <= status[1] or makespan <= status[0] * limit:
            status[1] = makespan
        else:
            order[:], mp[:], ms[:], c[:], t[:] = saved[0, :n_ops], saved[1], saved[2], saved[3], saved[4]
        if makespan < status[0]:
            status[0] = makespan
            best[:] = order
    return inserted


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    problem, topology, links, _work = prepare(env_data)
    makespan = lay_out(np.array(state.sequence, dtype=np.int32), problem, topology, links)
    size = topology[0].size
    best, saved = topology[0].copy(), np.zeros((5, size + 1), np.int32)
    status = np.array([makespan, makespan], np.int64)
    rounds = max(1, CHUNK_WORK // (size * JOBS * problem[1]))
    while not budget.exhausted():
        limit = 1.0 + TOLERANCE * budget.remaining()
        inserted = search(rounds, limit, JOBS, NOISE, problem, topology, links, saved, best, status, rng)
        budget.charge(inserted)
    state.sequence = best // np.int32(problem[1])
    return state
