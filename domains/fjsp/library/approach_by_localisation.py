"""Machines by Kacem's approach by localisation, sequence by a priority rule; the best of several.

Method: operations are given machines one after another, each the one with the smallest load after adding the
operation's time. Global selection takes the jobs in random order and keeps the loads over all jobs; local
selection starts each job with empty machines. A rule then fixes the sequence, and the state is decoded.

Source: I. Kacem, S. Hammadi, P. Borne, Approach by localization and multiobjective evolutionary optimization
for flexible job-shop scheduling problems, 2002; F. Pezzella, G. Morganti, G. Ciaschetti, A genetic algorithm
for the flexible job-shop scheduling problem, 2008 (mix of rules).

Complexity: O(N (w + n)) per state for N operations, w eligible machines and n jobs.
"""

import numpy as np
from numba import njit

RESTARTS = 40  # tunable: int 1..1000
GLOBAL_SHARE = 0.7  # tunable: float 0.0..1.0
WORK_SHARE = 0.5  # tunable: float 0.0..1.0
NOISE = 0.2  # tunable: float 0.0..2.0


@njit(cache=True)
def localise(shop, options, n_machines, is_global, plan, rng):
    """Give every operation a machine, into the second row of `plan`; the time there, by operation."""
    opening, choice = shop[3], shop[4]
    n_ops = shop.shape[1] - 1
    n_jobs = opening[n_ops]
    order = np.arange(n_jobs)
    for i in range(n_jobs):
        j = i + int(rng.random() * (n_jobs - i))
        order[i], order[j] = order[j], order[i]
    load, times = np.zeros(n_machines, np.int64), np.zeros(n_ops, np.int64)
    for j in order:
        if not is_global:
            load[:] = 0
        x = opening[j]
        while x != n_ops:
            least, ties = np.int64(2**62), 0
            for e in range(choice[x], choice[x + 1]):
                after = load[options[0, e]] + options[1, e]
                ties = ties + 1 if after == least else 1
                if after < least or (after == least and rng.random() * ties < 1.0):
                    least = after
                    plan[1, x], times[x] = options[0, e], options[1, e]
            load[plan[1, x]] = least
            x = shop[2, x]
    return times


@njit(cache=True)
def sequence_by_rule(times, shop, by_work, noise, plan, rng):
    """Repeatedly the job with the most work left, or with the most operations left, blurred by noise."""
    job, opening = shop[0], shop[3]
    n_ops = job.size - 1
    n_jobs = opening[n_ops]
    left = np.zeros(n_jobs, np.float64)
    operations = np.zeros(n_jobs, np.int64)
    for x in range(n_ops):
        left[job[x]] += times[x] if by_work else 1.0
        operations[job[x]] += 1
    nxt = opening.copy()
    for i in range(n_ops):
        chosen, value = -1, -1.0
        for j in range(n_jobs):
            rated = left[j] * (1.0 + noise * rng.random())
            if operations[j] > 0 and rated > value:
                chosen, value = j, rated
        plan[0, i] = chosen
        left[chosen] = max(left[chosen] - (times[nxt[chosen]] if by_work else 1.0), 0.0)
        operations[chosen] -= 1
        nxt[chosen] += 1


def prepare(env_data):
    """Arrays of an instance and of one schedule; operations are numbered job by job, and the number of all
    operations stands for "none".

    shop, int32 (5, N + 1), by operation: job, job predecessor, job successor; first operation of each job, at
    its end the number of jobs; first of its entries in options, int32 (2, E): eligible machine and time.
    links, int32 (8, N + 1), by operation: machine predecessor, machine successor, machine, time, completion,
    tail (own time included), topological order and places in it. first, int32 (m + 1,): first operation of
    each machine. work, int64 (7, N + 7): heads and tails without one operation, marks and list of shifted
    operations, critical path, ratings along it, the move found.
    """
    counts = np.asarray(env_data["op_counts"], dtype=np.int64)
    n, size = counts.size, int(counts.sum())
    is_operation = np.arange(env_data["max_ops"]) < counts[:, None]
    table = np.asarray(env_data["machines_matrix"])[is_operation]
    times = np.asarray(env_data["times_matrix"])[is_operation]
    opening, x = np.cumsum(counts) - counts, np.arange(size)
    shop = np.full((5, size + 1), size, np.int32)
    shop[0] = np.append(np.repeat(np.arange(n), counts), n)
    shop[1, 1:size], shop[2, : size - 1] = x[:-1], x[1:]
    shop[1, opening] = shop[2, opening + counts - 1] = size
    shop[3, :n], shop[3, size] = opening, n
    shop[4] = np.concatenate(([0], np.cumsum((table >= 0).sum(axis=1))))
    options = np.array([table[table >= 0], times[table >= 0]], dtype=np.int32)
    links = np.zeros((8, size + 1), np.int32)
    links[:2] = size
    first = np.full(env_data["num_machines"] + 1, size, np.int32)
    return shop, options, links, first, np.zeros((7, size + 7), np.int64)


def plan_of(env_data, state):
    """Sequence of jobs and, operation by operation, the machines of a state: int32 (2, total_ops)."""
    counts = np.asarray(env_data["op_counts"])
    is_operation = np.arange(env_data["max_ops"]) < counts[:, None]
    plan = np.empty((2, env_data["total_ops"]), np.int32)
    plan[0] = state.sequence
    plan[1] = np.asarray(state.metadata["machine_alloc"])[is_operation]
    return plan


def put_plan(env_data, state, plan):
    """Make `plan` the solution that `state` holds."""
    counts = np.asarray(env_data["op_counts"])
    is_operation = np.arange(env_data["max_ops"]) < counts[:, None]
    allocation = np.full(is_operation.shape, -1, np.int32)
    allocation[is_operation] = plan[1]
    state.sequence = plan[0].copy()
    state.metadata = {**state.metadata, "machine_alloc": allocation}


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of at most RESTARTS states."""
    budget, rng = env_data["budget"], env_data["rng"]
    shop, options = prepare(env_data)[:2]
    plan = np.empty((2, env_data["total_ops"]), np.int32)
    best = None
    for _ in range(RESTARTS):
        is_global, by_work = bool(rng.random() < GLOBAL_SHARE), bool(rng.random() < WORK_SHARE)
        times = localise(shop, options, env_data["num_machines"], is_global, plan, rng)
        sequence_by_rule(times, shop, by_work, NOISE, plan, rng)
        put_plan(env_data, state, plan)
        makespan = calc_makespan_fn(state)
        if best is None or makespan < best[0]:
            best = (makespan, plan.copy())
        if budget.exhausted():
            break
    put_plan(env_data, state, best[1])
    return state
