"""Reoptimisation of bottlenecks: all operations of a critical machine or job leave and return.

Method: a machine or a job is drawn with a probability that grows with the number of its critical operations.
All its operations are taken out and come back one by one, long ones first (with noise), each where the
longest path through it is shortest; a longer schedule is accepted by Metropolis' rule at a low temperature.

Source: J. Adams, E. Balas, D. Zawack, The shifting bottleneck procedure for job shop scheduling, 1988
(reoptimisation of one machine at a time); F. Werner, A. Winkler, Insertion techniques for the heuristic
solution of the job shop problem, 1995.

Complexity: O(n N) per machine and O(m N) per job for n jobs, m machines and N operations.
"""

import numpy as np
from numba import njit
from parts.reinsertion import reinsert, save
from parts.ruin_and_recreate import keep_or_restore, set_up

NOISE = 1.0  # tunable: float 0.0..5.0
TEMPERATURE = 0.02  # tunable: float 0.0..1.0
CHUNK_OPERATIONS = 400_000  # operations reinserted by one kernel call times operations of the instance


# exchangeable: bottleneck-choice
@njit(cache=True)
def choose_resource(makespan, n_jobs, n_machines, p, c, t, rng):
    """A job (its number) or a machine (n_jobs + its number): that of a random critical operation."""
    n_ops = n_jobs * n_machines
    x = int(rng.random() * n_ops)
    while c[x] + t[x] - p[x] < makespan:
        x = int(rng.random() * n_ops)
    if rng.random() * (n_jobs + n_machines) < n_jobs:
        return n_jobs + x % n_machines
    return x // n_machines


@njit(cache=True)
def list_operations(resource, noise, n_jobs, n_machines, p, out, rng):
    """Write the operations of a job or machine into `out`, long ones first; returns their number."""
    is_job = resource < n_jobs
    count = n_machines if is_job else n_jobs
    keys = np.empty(count, np.float64)
    for i in range(count):
        x = resource * n_machines + i if is_job else i * n_machines + resource - n_jobs
        keys[i] = p[x] * (1.0 + noise * rng.random())
        place = i
        while place > 0 and keys[place - 1] < keys[place]:
            keys[place - 1], keys[place] = keys[place], keys[place - 1]
            out[place] = out[place - 1]
            place -= 1
        out[place] = x
    return count


@njit(cache=True)
def search(operations, noise, temperature, target, problem, order, links, work, status, best, rng):
    """Reoptimise machines and jobs until `operations` have been reinserted; returns their number.

    It is smaller when the makespan met `target`. `status` holds the best and the present makespan, `best`
    the best order.
    """
    n_jobs, n_machines, _job, p = problem
    c, t = links[4], links[5]
    out, mark, gaps, saved = work
    made = 0
    while made < operations and status[0] > target:
        save(order, links, saved)
        resource = choose_resource(status[1], n_jobs, n_machines, p, c, t, rng)
        count = list_operations(resource, noise, n_jobs, n_machines, p, out, rng)
        makespan = reinsert(out[:count], order, problem, links, gaps, mark, rng)
        made += count
        keep_or_restore(makespan, temperature, order, links, saved, status, best, rng)
    return made


def run(env_data, state, calc_makespan_fn):
    """Reoptimise `state` until the share of the budget is spent or the lower bound is met."""
    budget, rng, target = env_data["budget"], env_data["rng"], env_data["lower_bound"]
    problem, order, links, work, status = set_up(env_data, state)
    best = order.copy()
    temperature = max(TEMPERATURE * float(problem[3].mean()), 1e-9)
    operations = max(5, CHUNK_OPERATIONS // order.size)
    while status[0] > target and not budget.exhausted():
        made = search(operations, NOISE, temperature, target, problem, order, links, work, status, best, rng)
        budget.charge(made)
    state.sequence = best
    return state
