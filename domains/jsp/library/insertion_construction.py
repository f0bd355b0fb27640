"""Insertion construction: operations enter the machine orders one by one, longest first.

Method: the operations of the job with the most work come first, then all others by decreasing time. Each is
put where the longest path through it, rated by heads and tails of the partial schedule, is shortest among
the positions that close no cycle.

Source: E. Nowicki, C. Smutnicki, A fast taboo search algorithm for the job shop problem, 1996 (algorithm
INSA); F. Werner, A. Winkler, Insertion techniques for the heuristic solution of the job shop problem, 1995.

Complexity: O(N) per inserted operation, O(N²) in all for N operations.
"""

import numpy as np
from numba import njit

NOISE = 0.1  # tunable: float 0.0..1.0
RESTARTS = 3  # tunable: int 1..50


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


def rank_operations(times, noise, rng):
    """Numbers of the operations in the order of their insertion: longest job, then longest operations."""
    keys = times * (1.0 + noise * rng.random(times.shape))
    longest = int(keys.sum(axis=1).argmax())
    keys[longest] += keys.sum()
    return np.argsort(-keys.ravel(), kind="stable").astype(np.int32)


def construct(env_data, noise):
    """A topological order of one schedule."""
    problem, topology, links, _work = prepare(env_data)
    _n, m, machine, p, jp, js = problem
    order, (mp, ms, c, t) = topology[0], links
    mp[:] = ms[:] = order.size
    first = np.full(m, order.size, np.int32)
    sort_topologically(jp, js, mp, ms, order)
    update_heads(order, 0, p, jp, mp, c)
    update_tails(order, order.size - 1, p, js, ms, t)
    ranking = rank_operations(np.asarray(env_data["times_matrix"]), noise, env_data["rng"])
    insert_all(ranking, machine, p, jp, js, mp, ms, first, c, t, order)
    return order


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of RESTARTS constructions, of which the first uses the exact times."""
    n_machines = np.int32(env_data["num_machines"])
    best = None
    for restart in range(RESTARTS):
        sequence = construct(env_data, NOISE if restart else 0.0) // n_machines
        previous, state.sequence = state.sequence, sequence
        makespan = calc_makespan_fn(state)
        if best is not None and makespan >= best:
            state.sequence = previous
        else:
            best = makespan
        if env_data["budget"].exhausted():
            break
    return state
