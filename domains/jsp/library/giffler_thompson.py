"""Active schedules by Giffler and Thompson with randomised priorities; the best of several is returned.

Method: among the operations that can come next, find the one that could end first; on its machine, one of
the operations that could start before that end is chosen by a noisy priority rule and fixed. Every
optimum has an active schedule among its equals.

Source: B. Giffler, G. L. Thompson, Algorithms for solving production-scheduling problems, 1960.

Complexity: O(n) per operation for n jobs, O(n² m) per schedule.
"""

import numpy as np
from numba import njit
from parts.priorities import dispatch_repeatedly, nothing_scheduled, priority

RESTARTS = 60  # tunable: int 1..1000
NOISE = 0.3  # tunable: float 0.0..2.0
RULE = "mwkr"  # tunable: choice mwkr spt lpt mopnr random


@njit(cache=True)
def schedule(machines, times, rule, noise, sequence, rng):
    """One active schedule, written into `sequence`; returns its makespan."""
    n, m = times.shape
    step, job_free, work, machine_free = nothing_scheduled(times)
    makespan = 0
    for i in range(n * m):
        end, k = np.int64(2**62), -1
        for j in range(n):
            if step[j] < m:
                machine = machines[j, step[j]]
                done = max(job_free[j], machine_free[machine]) + times[j, step[j]]
                if done < end:
                    end, k = done, machine
        chosen, value = -1, -1.0
        for j in range(n):
            if step[j] < m and machines[j, step[j]] == k:
                start, time = max(job_free[j], machine_free[k]), times[j, step[j]]
                if start < end or start + time == end:
                    rated = priority(rule, time, work[j], m - step[j], rng.random())
                    rated *= 1.0 + noise * rng.random()
                    if rated > value:
                        chosen, value = j, rated
        time = times[chosen, step[chosen]]
        done = max(job_free[chosen], machine_free[k]) + time
        job_free[chosen] = machine_free[k] = done
        makespan = max(makespan, done)
        work[chosen] -= time
        step[chosen] += 1
        sequence[i] = chosen
    return makespan


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of at most RESTARTS schedules; the first one follows the bare rule."""
    return dispatch_repeatedly(env_data, state, RULE, NOISE, RESTARTS)
