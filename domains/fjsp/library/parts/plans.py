"""Plans, which are solutions as arrays: a sequence of jobs, and the machine of every operation."""

import numpy as np
from numba import njit


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


@njit(cache=True)
def dispatch(shop, options, n_machines, noise, plan, rng):
    """A schedule, into `plan`: the job with the most work left goes next, both blurred by noise, and its
    operation goes to the machine that completes it first. Returns the makespan.
    """
    job, opening, choice = shop[0], shop[3], shop[4]
    n_ops = job.size - 1
    n_jobs = opening[n_ops]
    left = np.zeros(n_jobs, np.float64)
    shortest = np.empty(n_ops, np.float64)
    for x in range(n_ops):
        shortest[x] = options[1, choice[x] : choice[x + 1]].min()
        left[job[x]] += shortest[x]
    nxt = opening.copy()
    job_free, machine_free = np.zeros(n_jobs, np.int64), np.zeros(n_machines, np.int64)
    makespan = 0
    for i in range(n_ops):
        chosen, chosen_k, end, value = -1, -1, np.int64(0), -np.inf
        for j in range(n_jobs):
            x = nxt[j]
            if x == n_ops or job[x] != j:
                continue
            done, where = np.int64(2**60), -1
            for e in range(choice[x], choice[x + 1]):
                ready = max(job_free[j], machine_free[options[0, e]]) + options[1, e]
                if ready < done:
                    done, where = ready, options[0, e]
            rated = left[j] * (1.0 + noise * rng.random()) - done * (1.0 + noise * rng.random())
            if rated > value:
                chosen, chosen_k, end, value = x, where, done, rated
        j = job[chosen]
        plan[0, i] = j
        plan[1, chosen] = chosen_k
        job_free[j] = machine_free[chosen_k] = end
        left[j] -= shortest[chosen]
        nxt[j] += 1
        makespan = max(makespan, end)
    return makespan


@njit(cache=True)
def distance(first, second, opening):
    """Number of operations two plans put on different machines plus pairs of neighbours on a machine of the
    first plan that the second does not have in this order on one machine."""
    n_ops = first.shape[1]
    place = np.empty(n_ops, np.int32)
    done = opening.copy()
    for i in range(n_ops):
        place[done[second[0, i]]] = i
        done[second[0, i]] += 1
    last = np.full(first[1].max() + 1, -1, np.int32)
    done[:] = opening
    count = 0
    for i in range(n_ops):
        x = done[first[0, i]]
        done[first[0, i]] += 1
        k = first[1, x]
        if second[1, x] != k:
            count += 1
        y = last[k]
        if y >= 0 and (second[1, y] != second[1, x] or place[y] > place[x]):
            count += 1
        last[k] = x
    return count


# exchangeable: path-point
@njit(cache=True)
def path_point(origin, guide, share, opening, child, rng):
    """A plan between two: repeatedly the first operation missing from the sequence of `origin` or, with
    probability `share`, of `guide`; each operation's machine from one of them with the same odds. A pair both
    serve in the same order keeps that order, and any machines go with any sequence: the result is feasible.
    """
    n_ops = origin.shape[1]
    taken = np.zeros(n_ops, np.bool_)
    a, b, owner = np.empty(n_ops, np.int32), np.empty(n_ops, np.int32), np.empty(n_ops, np.int32)
    done = opening.copy()
    for i in range(n_ops):
        a[i] = done[origin[0, i]]
        done[origin[0, i]] += 1
    done[:] = opening
    for i in range(n_ops):
        b[i] = done[guide[0, i]]
        done[guide[0, i]] += 1
        owner[b[i]] = guide[0, i]
    i = j = 0
    for k in range(n_ops):
        while i < n_ops and taken[a[i]]:
            i += 1
        while taken[b[j]]:
            j += 1
        x = b[j] if rng.random() < share else a[i]
        taken[x] = True
        child[0, k] = owner[x]
        child[1, k] = guide[1, k] if rng.random() < share else origin[1, k]
