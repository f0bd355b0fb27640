"""The schedule of a sequence as a graph: heads, tails and a topological order.

An operation's tail is the longest path from its start to the end of the schedule. :func:`prepare` explains
the arrays.
"""

import numpy as np
from numba import njit
from parts.jsp.schedule import update_heads, update_tails
from parts.shops.critical_path import follow


def prepare(env_data):
    """Arrays of an instance and of one schedule; the operation of job j on machine k is j * machines + k.

    problem: numbers of jobs and machines; job and time of an operation. topology: a topological order and
    the places in it. links: job predecessors and successors, machine predecessors and successors,
    completion times, tails (own time included). work: critical path, heads in a move, moved operations and
    their marks. The number of operations stands for "none".
    """
    n, m = env_data["num_jobs"], env_data["num_machines"]
    size = n * m
    p = np.zeros(size + 1, np.int32)
    p[:size] = np.asarray(env_data["ossp_times"]).ravel()
    job = (np.arange(size + 1) // m).astype(np.int32)
    blank = [np.zeros(size + 1, np.int32) for _ in range(10)]
    topology, links = (np.zeros(size, np.int32), blank[0]), tuple(blank[1:7])
    return (n, m, job, p), topology, links, (*blank[7:], np.zeros(size + 1, np.bool_))


def open_schedule(env_data, state):
    """What a search on critical moves begins with: the arrays of `prepare` for the schedule of `state`, with
    moves, int32 (4 N, 3), as the last of them, and the makespan."""
    problem, topology, links, work = prepare(env_data)
    makespan = lay_out(np.array(state.sequence, dtype=np.int32), problem, topology, links)
    return (problem, topology, links, work, np.zeros((4 * topology[0].size, 3), np.int32)), makespan


@njit(cache=True)
def longest_path(t):
    """Makespan: the longest tail of an operation."""
    makespan = t[0]
    for x in range(1, t.size):
        makespan = max(makespan, t[x])
    return makespan


@njit(cache=True)
def lay_out(sequence, problem, topology, links):
    """Set up order, predecessors and successors, heads and tails of a sequence; its makespan."""
    n_jobs, n_machines, job, p = problem
    order, place = topology
    jp, js, mp, ms, c, t = links
    n_ops = n_jobs * n_machines
    last_of_job = np.full(n_jobs, n_ops, np.int32)
    last_on = np.full(n_machines, n_ops, np.int32)
    for i in range(n_ops):
        x = sequence[i]
        order[i] = x
        place[x] = i
        j = job[x]
        k = x - j * n_machines
        jp[x], mp[x] = last_of_job[j], last_on[k]
        js[jp[x]] = ms[mp[x]] = x
        js[x] = ms[x] = n_ops
        last_of_job[j] = last_on[k] = x
    jp[n_ops] = js[n_ops] = mp[n_ops] = ms[n_ops] = n_ops
    update_heads(order, np.int64(0), p, jp, mp, c)
    update_tails(order, n_ops - 1, p, js, ms, t)
    return longest_path(t)


@njit(cache=True)
def critical_path(makespan, p, js, ms, t, path, rng):
    """One critical path, drawn at random where it starts or forks; returns its length."""
    n_ops = p.size - 1
    x = n_ops
    ties = 0
    for first in range(n_ops):
        if t[first] == makespan:
            ties += 1
            if ties == 1 or rng.random() * ties < 1.0:
                x = first
    return follow(x, p, js, ms, t, path, rng)
