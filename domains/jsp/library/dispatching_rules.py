"""Non-delay schedules by a randomised dispatching rule; the best of several is returned.

Method: of the operations that can come next, those that could start first compete; a priority rule, blurred
by noise, decides. No machine ever waits while it could work.

Source: R. Haupt, A survey of priority rule-based scheduling, 1989.

Complexity: O(n) per operation for n jobs, O(n² m) per schedule.
"""

import numpy as np
from numba import njit
from parts.priorities import dispatch_repeatedly, nothing_scheduled, priority

RESTARTS = 20  # tunable: int 1..1000
NOISE = 0.2  # tunable: float 0.0..2.0
RULE = "mwkr"  # tunable: choice mwkr spt lpt mopnr random


@njit(cache=True)
def schedule(machines, times, rule, noise, sequence, rng):
    """One non-delay schedule, written into `sequence`; returns its makespan."""
    n, m = times.shape
    step, job_free, work, machine_free = nothing_scheduled(times)
    makespan = 0
    for i in range(n * m):
        first = np.int64(2**62)
        chosen, value = -1, -1.0
        for j in range(n):
            if step[j] == m:
                continue
            start = max(job_free[j], machine_free[machines[j, step[j]]])
            if start > first:
                continue
            rated = priority(rule, times[j, step[j]], work[j], m - step[j], rng.random())
            rated *= 1.0 + noise * rng.random()
            if start < first or rated > value:
                first, chosen, value = start, j, rated
        time = times[chosen, step[chosen]]
        job_free[chosen] = machine_free[machines[chosen, step[chosen]]] = first + time
        makespan = max(makespan, first + time)
        work[chosen] -= time
        step[chosen] += 1
        sequence[i] = chosen
    return makespan


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of at most RESTARTS schedules; the first one follows the bare rule."""
    return dispatch_repeatedly(env_data, state, RULE, NOISE, RESTARTS)
