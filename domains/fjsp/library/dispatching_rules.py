"""Non-delay schedules by a randomised dispatching rule; the best of several is returned.

Method: of the operations that can come next, those that could start first on some eligible machine compete; a
priority rule, blurred by noise, decides. The operation goes to the machine on which it starts first, the
faster one of several.

Source: R. Haupt, A survey of priority rule-based scheduling, 1989.

Complexity: O(n w) per operation for n jobs and w eligible machines.
"""

import numpy as np
from numba import njit
from parts.generic.tries import best_built
from parts.jsp.priorities import priority
from parts.plans import prepare, put_plan

RESTARTS = 30  # tunable: int 1..1000
NOISE = 0.2  # tunable: float 0.0..2.0
RULE = "mwkr"  # tunable: choice mwkr spt lpt mopnr random

RULES = ("mwkr", "spt", "lpt", "mopnr", "random")


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


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of at most RESTARTS schedules; the first one follows the bare rule."""
    shop, options = prepare(env_data)[:2]
    plan = np.empty((2, env_data["total_ops"]), np.int32)

    def plans():
        for restart in range(RESTARTS):
            noise, rule = NOISE if restart else 0.0, RULES.index(RULE)
            makespan = schedule(shop, options, env_data["num_machines"], rule, noise, plan, env_data["rng"])
            yield plan.copy(), makespan

    put_plan(env_data, state, best_built(plans(), env_data["budget"]))
    return state
