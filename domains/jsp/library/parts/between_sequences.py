"""Distance of two sequences and a way from one to the other, with new ones to start from."""

import numpy as np
from numba import njit


@njit(cache=True)
def machine_distance(first, second, n_jobs, n_machines, machine):
    """Number of operation pairs that two sequences serve in different orders on their machine."""
    n_ops = n_jobs * n_machines
    place = np.empty(n_ops, np.int32)
    done = np.zeros(n_jobs, np.int32)
    for i in range(n_ops):
        place[second[i] * n_machines + done[second[i]]] = i
        done[second[i]] += 1
    served = np.zeros(n_machines, np.int32)
    seen = np.empty((n_machines, n_jobs), np.int32)
    done[:] = 0
    distance = 0
    for i in range(n_ops):
        x = first[i] * n_machines + done[first[i]]
        done[first[i]] += 1
        k = machine[x]
        for q in range(served[k]):
            if seen[k, q] > place[x]:
                distance += 1
        seen[k, served[k]] = place[x]
        served[k] += 1
    return distance


# exchangeable: path-point
@njit(cache=True)
def path_point(origin, guide, share, n_jobs, n_machines, child, rng):
    """A sequence between two: repeatedly the first operation missing from `origin` or, with probability
    `share`, from `guide`. A pair both serve in the same order keeps that order, so the result is feasible.
    """
    n_ops = n_jobs * n_machines
    taken = np.zeros(n_ops, np.bool_)
    a, b = np.empty(n_ops, np.int32), np.empty(n_ops, np.int32)
    done = np.zeros(n_jobs, np.int32)
    for i in range(n_ops):
        a[i] = origin[i] * n_machines + done[origin[i]]
        done[origin[i]] += 1
    done[:] = 0
    for i in range(n_ops):
        b[i] = guide[i] * n_machines + done[guide[i]]
        done[guide[i]] += 1
    i = j = 0
    for k in range(n_ops):
        while i < n_ops and taken[a[i]]:
            i += 1
        while taken[b[j]]:
            j += 1
        x = b[j] if rng.random() < share else a[i]
        taken[x] = True
        child[k] = x // n_machines


@njit(cache=True)
def dispatch(n_jobs, n_machines, machine, p, noise, sequence, rng):
    """Active schedule by Giffler and Thompson with noisy most-work-remaining priorities, into `sequence`."""
    n_ops = n_jobs * n_machines
    nxt = np.zeros(n_jobs, np.int32)
    job_free, work = np.zeros(n_jobs, np.int64), np.zeros(n_jobs, np.int64)
    machine_free = np.zeros(n_machines, np.int64)
    for x in range(n_ops):
        work[x // n_machines] += p[x]
    for i in range(n_ops):
        end, k = 2**40, -1
        for j in range(n_jobs):
            if nxt[j] < n_machines:
                x = j * n_machines + nxt[j]
                done = max(job_free[j], machine_free[machine[x]]) + p[x]
                if done < end or (done == end and k < 0):
                    end, k = done, machine[x]
        chosen, value = -1, -1.0
        for j in range(n_jobs):
            if nxt[j] < n_machines:
                x = j * n_machines + nxt[j]
                start = max(job_free[j], machine_free[k])
                if machine[x] == k and (start < end or start + p[x] == end):
                    rated = work[j] * (1.0 + noise * rng.random()) + 1e-9
                    if rated > value:
                        chosen, value = j, rated
        x = chosen * n_machines + nxt[chosen]
        job_free[chosen] = machine_free[k] = max(job_free[chosen], machine_free[k]) + p[x]
        work[chosen] -= p[x]
        nxt[chosen] += 1
        sequence[i] = chosen
