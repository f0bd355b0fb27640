"""The schedule of a sequence as a graph: heads, tails and a topological order.

An operation's tail is the longest path from its start to the end of the schedule. :func:`arrays_of` explains
the arrays.
"""

import numpy as np
from numba import njit
from parts.shops.critical_path import follow


def arrays_of(machines, times):
    """Arrays of an instance and of one schedule; operation k of job j has number j * machines + k.

    problem: numbers of jobs and machines; machine, time, job predecessor and job successor of an operation.
    topology: a topological order and the places in it. links: machine predecessors and successors,
    completion times, tails (own time included). work: critical path, heads in a move, moved operations and
    their marks. The number of operations stands for "none".
    """
    n, m = times.shape
    size = n * m
    machine, p = np.full(size + 1, -1, np.int32), np.zeros(size + 1, np.int32)
    machine[:size] = machines.ravel()
    p[:size] = times.ravel()
    jp, js = np.arange(-1, size, dtype=np.int32), np.arange(1, size + 2, dtype=np.int32)
    jp[: size + 1 : m] = js[m - 1 :: m] = jp[size] = js[size] = size
    blank = [np.zeros(size + 1, np.int32) for _ in range(8)]
    topology, links = (np.zeros(size, np.int32), blank[0]), tuple(blank[1:5])
    return (n, m, machine, p, jp, js), topology, links, (*blank[5:], np.zeros(size + 1, np.bool_))


def prepare(env_data):
    """The arrays of :func:`arrays_of` for the instance."""
    return arrays_of(np.asarray(env_data["machines_matrix"]), np.asarray(env_data["times_matrix"]))


def open_schedule(env_data, state):
    """The arrays of :func:`arrays_of` with the schedule of `state`, behind them rows for moves, int32
    (4 N, 3); the makespan.
    """
    problem, topology, links, work = prepare(env_data)
    makespan = lay_out(np.array(state.sequence, dtype=np.int32), problem, topology, links)
    return (problem, topology, links, work, np.zeros((4 * topology[0].size, 3), np.int32)), makespan


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


@njit(cache=True)
def critical_path(n_jobs, n_machines, makespan, p, js, ms, t, path, rng):
    """One critical path, drawn at random where it forks; returns its length."""
    n_ops = n_jobs * n_machines
    x = n_ops
    ties = 0
    for first in range(0, n_ops, n_machines):
        if t[first] == makespan:
            ties += 1
            if rng.random() * ties < 1.0:
                x = first
    return follow(x, p, js, ms, t, path, rng)


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
