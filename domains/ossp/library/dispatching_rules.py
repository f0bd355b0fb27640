"""Dense schedules by a randomised dispatching rule; the best of several is returned.

Method: of the operations that could start first, a priority rule, blurred by noise, chooses the next. No
machine ever waits while it could work on a waiting job, so the schedule is at most twice as long as the best.

Source: C. Guéret, C. Prins, Classical and new heuristics for the open-shop problem, 1998; D. P. Williamson et
al., Short shop schedules, 1997 (dense schedules).

Complexity: O(N) per operation, O(N²) per schedule for N operations.
"""

import numpy as np
from numba import njit
from parts.priorities import dispatch_repeatedly, nothing_scheduled, priority

RESTARTS = 20  # tunable: int 1..1000
NOISE = 0.2  # tunable: float 0.0..2.0
RULE = "remaining"  # tunable: choice remaining bottleneck lpt spt random


@njit(cache=True)
def schedule(times, rule, noise, sequence, rng):
    """One dense schedule, written into `sequence`; returns its makespan."""
    n, m = times.shape
    left, job_free, job_left, machine_free, machine_left = nothing_scheduled(times)
    makespan = 0
    for i in range(n * m):
        first = np.int64(2**62)
        chosen, value = -1, -1.0
        for place in range(n * m - i):
            j, k = left[place] // m, left[place] % m
            start = max(job_free[j], machine_free[k])
            if start > first:
                continue
            rated = priority(rule, times[j, k], job_left[j], machine_left[k], rng.random())
            rated *= 1.0 + noise * rng.random()
            if start < first or rated > value:
                first, chosen, value = start, place, rated
        x = left[chosen]
        left[chosen] = left[n * m - i - 1]
        time = times[x // m, x % m]
        job_free[x // m] = machine_free[x % m] = first + time
        makespan = max(makespan, first + time)
        job_left[x // m] -= time
        machine_left[x % m] -= time
        sequence[i] = x
    return makespan


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of at most RESTARTS schedules; the first one follows the bare rule."""
    return dispatch_repeatedly(env_data, state, RULE, NOISE, RESTARTS)
