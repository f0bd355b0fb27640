"""Active schedules with randomised priorities; the best of several is returned.

Method: find the operation that could end first; of the operations that share its machine or its job and
could start before that end, one is chosen by a noisy priority rule and fixed (the scheme of Giffler and
Thompson, with jobs in the role of machines too).

Source: B. Giffler, G. L. Thompson, Algorithms for solving production-scheduling problems, 1960; D. Y. Sha,
C.-Y. Hsu, A new particle swarm optimization for the open shop scheduling problem, 2008 (for open shops).

Complexity: O(N) per operation, O(N²) per schedule for N operations.
"""

import numpy as np
from numba import njit
from parts.priorities import dispatch_repeatedly, nothing_scheduled, priority

RESTARTS = 40  # tunable: int 1..1000
NOISE = 0.3  # tunable: float 0.0..2.0
RULE = "remaining"  # tunable: choice remaining bottleneck lpt spt random


@njit(cache=True)
def schedule(times, rule, noise, sequence, rng):
    """One active schedule, written into `sequence`; returns its makespan."""
    n, m = times.shape
    left, job_free, job_left, machine_free, machine_left = nothing_scheduled(times)
    makespan = 0
    for i in range(n * m):
        end, first = np.int64(2**62), 0
        for place in range(n * m - i):
            j, k = left[place] // m, left[place] % m
            done = max(job_free[j], machine_free[k]) + times[j, k]
            if done < end:
                end, first = done, left[place]
        chosen, value = -1, -1.0
        for place in range(n * m - i):
            j, k = left[place] // m, left[place] % m
            if j == first // m or k == first % m:
                start = max(job_free[j], machine_free[k])
                if start < end or start + times[j, k] == end:
                    rated = priority(rule, times[j, k], job_left[j], machine_left[k], rng.random())
                    rated *= 1.0 + noise * rng.random()
                    if rated > value:
                        chosen, value = place, rated
        x = left[chosen]
        left[chosen] = left[n * m - i - 1]
        time = times[x // m, x % m]
        done = max(job_free[x // m], machine_free[x % m]) + time
        job_free[x // m] = machine_free[x % m] = done
        makespan = max(makespan, done)
        job_left[x // m] -= time
        machine_left[x % m] -= time
        sequence[i] = x
    return makespan


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of at most RESTARTS schedules; the first one follows the bare rule."""
    return dispatch_repeatedly(env_data, state, RULE, NOISE, RESTARTS)
