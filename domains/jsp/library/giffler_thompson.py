"""Active schedules by Giffler and Thompson with randomised priorities; the best of several is returned.

Method: among the operations that can come next, find the one that could end first; on its machine, one of
the operations that could start before that end is chosen by a noisy priority rule and fixed. Every
optimum has an active schedule among its equals.

Source: B. Giffler, G. L. Thompson, Algorithms for solving production-scheduling problems, 1960.

Complexity: O(n) per operation for n jobs, O(n² m) per schedule.
"""

import numpy as np
from numba import njit

RESTARTS = 60  # tunable: int 1..1000
NOISE = 0.3  # tunable: float 0.0..2.0
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
def schedule(machines, times, rule, noise, sequence, rng):
    """One active schedule, written into `sequence`; returns its makespan."""
    n, m = times.shape
    step = np.zeros(n, np.int64)
    job_free, work = np.zeros(n, np.int64), np.zeros(n, np.int64)
    machine_free = np.zeros(m, np.int64)
    for j in range(n):
        work[j] = times[j].sum()
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
    budget, rng = env_data["budget"], env_data["rng"]
    machines = np.array(env_data["machines_matrix"], dtype=np.int32)
    times = np.array(env_data["times_matrix"], dtype=np.int32)
    sequence = np.empty(env_data["total_ops"], np.int32)
    best = None
    for restart in range(RESTARTS):
        noise = 0.0 if restart == 0 else NOISE
        makespan = schedule(machines, times, RULES.index(RULE), noise, sequence, rng)
        budget.charge(1)
        if best is None or makespan < best:
            best = makespan
            state.sequence = sequence.copy()
        if budget.exhausted():
            break
    return state
