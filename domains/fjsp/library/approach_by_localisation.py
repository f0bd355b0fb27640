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
from parts.plans import prepare, put_plan

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
