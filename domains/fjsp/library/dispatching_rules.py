"""Non-delay schedules by a randomised dispatching rule; the best of several is returned.

Method: of the operations that can come next, those that could start first on some eligible machine compete; a
priority rule, blurred by noise, decides. The operation goes to the machine on which it starts first, the
faster one of several.

Source: R. Haupt, A survey of priority rule-based scheduling, 1989.

Complexity: O(n w) per operation for n jobs and w eligible machines.
"""

import numpy as np
from numba import njit

RESTARTS = 30  # tunable: int 1..1000
NOISE = 0.2  # tunable: float 0.0..2.0
RULE = "mwkr"  # tunable: choice mwkr spt lpt mopnr random

RULES = ("mwkr", "spt", "lpt", "mopnr", "random")


# exchangeable: priority-rule
@njit(cache=True)
def priority(rule, time, work_left, operations_left, draw):
    """Value of an operation under a rule, higher is served first; `draw` is uniform on [0, 1)."""
    if rule == 0:
        return float(work_left)
    if rule == 1:
        return 1.0 / (1.0 + time)
    if rule == 2:
        return float(time)
    if rule == 3:
        return float(operations_left)
    return draw


@njit(cache=True)
def schedule(shop, options, n_machines, rule, noise, plan, rng):
    """One non-delay schedule, written into `plan`; returns its makespan."""
    job, opening, choice = shop[0], shop[3], shop[4]
    n_ops = job.size - 1
    n_jobs = opening[n_ops]
    left, operations = np.zeros(n_jobs, np.int64), np.zeros(n_jobs, np.int64)
    for x in range(n_ops):
        left[job[x]] += options[1, choice[x] : choice[x + 1]].min()
        operations[job[x]] += 1
    nxt = opening.copy()
    job_free, machine_free = np.zeros(n_jobs, np.int64), np.zeros(n_machines, np.int64)
    makespan = 0
    for i in range(n_ops):
        first, chosen, chosen_k, chosen_time, value = np.int64(2**62), -1, -1, 0, -1.0
        for j in range(n_jobs):
            if operations[j] == 0:
                continue
            start, k, time = np.int64(2**62), -1, 0
            for e in range(choice[nxt[j]], choice[nxt[j] + 1]):
                ready = max(job_free[j], machine_free[options[0, e]])
                if ready < start or (ready == start and options[1, e] < time):
                    start, k, time = ready, options[0, e], options[1, e]
            if start > first:
                continue
            rated = priority(rule, time, left[j], operations[j], rng.random()) * (1.0 + noise * rng.random())
            if start < first or rated > value:
                first, chosen, chosen_k, chosen_time, value = start, j, k, time, rated
        x = nxt[chosen]
        plan[0, i] = chosen
        plan[1, x] = chosen_k
        job_free[chosen] = machine_free[chosen_k] = first + chosen_time
        makespan = max(makespan, first + chosen_time)
        left[chosen] -= options[1, choice[x] : choice[x + 1]].min()
        operations[chosen] -= 1
        nxt[chosen] += 1
    return makespan


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
    """Give `state` the best of at most RESTARTS schedules; the first one follows the bare rule."""
    budget, rng = env_data["budget"], env_data["rng"]
    shop, options = prepare(env_data)[:2]
    plan = np.empty((2, env_data["total_ops"]), np.int32)
    best = None
    for restart in range(RESTARTS):
        noise = NOISE if restart else 0.0
        makespan = schedule(shop, options, env_data["num_machines"], RULES.index(RULE), noise, plan, rng)
        budget.charge(1)
        if best is None or makespan < best:
            best = makespan
            put_plan(env_data, state, plan)
        if budget.exhausted():
            break
    return state
