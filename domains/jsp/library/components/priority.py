"""Most work remaining: the operation whose job has the most work left goes first."""

from numba import njit


@njit(cache=True)
def priority(time, work_left, operations_left, start, job_ready, machine_free, machine_load, next_time):
    """Return how urgent an operation is; of those that compete for a machine the largest goes first.

    All arguments are floats. time: its processing time; work_left and operations_left: of its job, itself
    included; start: the earliest time it can start, the later of job_ready and machine_free; machine_load:
    time of all operations that its machine still has to serve; next_time: of its job's next operation, 0 if
    it has none.
    """
    return work_left


# ---- Skeleton: everything below stays as it is. ----

"""Active schedules by Giffler and Thompson, whose conflicts the rule decides; from the second schedule on a
conflict is decided at random with probability STRAY. The best schedule in the budget is returned.

Source: B. Giffler, G. L. Thompson, Algorithms for solving production-scheduling problems, 1960.
"""

import numpy as np
from numba import njit

STRAY = 0.05


@njit(cache=True)
def active_schedule(machines, times, stray, sequence, rng):
    n, m = times.shape
    step, job_free = np.zeros(n, np.int64), np.zeros(n)
    work, machine_free, load = np.zeros(n), np.zeros(m), np.zeros(m)
    for j in range(n):
        for k in range(m):
            work[j] += times[j, k]
            load[machines[j, k]] += times[j, k]
    for i in range(n * m):
        end, machine = np.inf, -1
        for j in range(n):
            if step[j] < m:
                k = machines[j, step[j]]
                done = max(job_free[j], machine_free[k]) + times[j, step[j]]
                if done < end:
                    end, machine = done, k
        chosen, value, is_random = -1, -np.inf, rng.random() < stray
        for j in range(n):
            if step[j] < m and machines[j, step[j]] == machine:
                start, time = max(job_free[j], machine_free[machine]), float(times[j, step[j]])
                if start < end or start + time == end:
                    following = float(times[j, step[j] + 1]) if step[j] + 1 < m else 0.0
                    rated = rng.random()
                    if not is_random:
                        rated = float(
                            priority(
                                time,
                                work[j],
                                float(m - step[j]),
                                start,
                                job_free[j],
                                machine_free[machine],
                                load[machine],
                                following,
                            )
                        )
                    if chosen < 0 or rated > value:
                        chosen, value = j, rated
        time = times[chosen, step[chosen]]
        job_free[chosen] = max(job_free[chosen], machine_free[machine]) + time
        machine_free[machine] = job_free[chosen]
        work[chosen] -= time
        load[machine] -= time
        step[chosen] += 1
        sequence[i] = chosen


def run(env_data, state, calc_makespan_fn):
    """Schedule by the bare rule, then again and again with a few random decisions; the best."""
    machines, times = env_data["machines_matrix"], env_data["times_matrix"]
    budget, best, best_score = env_data["budget"], None, 0.0
    while best is None or not budget.exhausted():
        state.sequence = np.empty(env_data["total_ops"], np.int32)
        active_schedule(machines, times, 0.0 if best is None else STRAY, state.sequence, env_data["rng"])
        score = calc_makespan_fn(state)
        if best is None or score < best_score:
            best, best_score = state.copy(), score
    return best
