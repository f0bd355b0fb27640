"""Non-delay schedules by a randomised dispatching rule; the best of several is returned.

Method: of the operations that can come next, those that could start first compete; a priority rule, blurred
by noise, decides. No machine ever waits while it could work.

Source: R. Haupt, A survey of priority rule-based scheduling, 1989.

Complexity: O(n) per operation for n jobs, O(n² m) per schedule.
"""

import numpy as np
from numba import njit

RESTARTS = 20  # tunable: int 1..1000
NOISE = 0.2  # tunable: float 0.0..2.0
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
    """One non-delay schedule, written into `sequence`; returns its makespan."""
    n, m = times.shape
    step = np.zeros(n, np.int64)
    job_free, work = np.zeros(n, np.int64), np.zeros(n, np.int64)
    machine_free = np.zeros(m, np.int64)
    for j in range(n):
        work[j] = times[j].sum()
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
