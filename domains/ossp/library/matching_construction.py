"""Dense schedules by matchings of idle jobs and idle machines; the best of several is returned.

Method: whenever jobs and machines are idle, a matching decides which of them meet: as many as possible, and
among such matchings one that prefers jobs and machines with much work left (with noise). At time 0 this is an
assignment of all machines; later the matchings are small.

Source: H. Bräsel, T. Tautenhahn, F. Werner, Constructive heuristic algorithms for the open shop problem,
1993; C. Guéret, C. Prins, Classical and new heuristics for the open-shop problem, 1998. The matchings are
found by successive shortest paths (H. W. Kuhn, The Hungarian method for the assignment problem, 1955).

Complexity: O(N) per matching apart from the assignment itself, which takes O(r² s) for r idle machines and s
idle jobs (r <= s) or the other way round; O(N²) per schedule for N operations in practice.
"""

import numpy as np
from numba import njit

RESTARTS = 20  # tunable: int 1..1000
NOISE = 0.1  # tunable: float 0.0..2.0
TIME_WEIGHT = 0.5  # tunable: float -2.0..2.0


# exchangeable: matching-weight
@njit(cache=True)
def weight(time, time_weight, job_left, machine_left, draw):
    """Worth of serving an operation now; `draw` is uniform on [0, 1)."""
    return job_left + machine_left + time_weight * time + draw


@njit(cache=True)
def cheapest_assignment(cost, row_of, slack, previous, is_used, u, v):
    """Assignment of all rows of `cost` to as many of its columns with the least sum, into `row_of`.

    There are at least as many columns as rows. Rows and columns count from 1 in `row_of`, where 0 means no
    row, and in the work arrays; all are longer than the number of columns.
    """
    n_rows, n_columns = cost.shape
    u[:] = 0.0
    v[:] = 0.0
    row_of[: n_columns + 1] = 0
    for row in range(1, n_rows + 1):
        row_of[0] = row
        column = 0
        slack[:] = np.inf
        is_used[:] = False
        while row_of[column] != 0:
            is_used[column] = True
            i, least, closest = row_of[column], np.inf, 0
            for j in range(1, n_columns + 1):
                if not is_used[j]:
                    reduced = cost[i - 1, j - 1] - u[i] - v[j]
                    if reduced < slack[j]:
                        slack[j], previous[j] = reduced, column
                    if slack[j] < least:
                        least, closest = slack[j], j
            for j in range(n_columns + 1):
                if is_used[j]:
                    u[row_of[j]] += least
                    v[j] -= least
                else:
                    slack[j] -= least
            column = closest
        while column != 0:
            row_of[column] = row_of[previous[column]]
            column = previous[column]


@njit(cache=True)
def list_idle(times, is_done, clocks, jobs, machines):
    """List jobs and machines that can meet at the earliest possible moment; how many, and the moment."""
    n, m = times.shape
    job_free, machine_free = clocks
    now = np.int64(2**62)
    for j in range(n):
        for k in range(m):
            if not is_done[j, k]:
                now = min(now, max(job_free[j], machine_free[k]))
    n_idle = m_idle = 0
    for j in range(n):
        if job_free[j] <= now:
            for k in range(m):
                if not is_done[j, k] and machine_free[k] <= now:
                    jobs[n_idle] = j
                    n_idle += 1
                    break
    for k in range(m):
        if machine_free[k] <= now:
            for i in range(n_idle):
                if not is_done[jobs[i], k]:
                    machines[m_idle] = k
                    m_idle += 1
                    break
    return n_idle, m_idle, now


@njit(cache=True)
def append_matching(
    count, times, is_done, clocks, lefts, time_weight, noise, idle, cost, row_of, work, sequence, rng
):
    """Append the operations of one matching to the first `count` of `sequence`; returns the new count."""
    job_free, machine_free = clocks
    job_left, machine_left = lefts
    jobs, machines = idle
    slack, previous, is_used, u, v = work
    n_idle, m_idle, now = list_idle(times, is_done, clocks, jobs, machines)
    is_wide = m_idle <= n_idle
    total = 1.0 + job_left.max() + machine_left.max()
    for row in range(min(n_idle, m_idle)):
        for column in range(max(n_idle, m_idle)):
            j, k = (jobs[column], machines[row]) if is_wide else (jobs[row], machines[column])
            cost[row, column] = 0.0
            if not is_done[j, k]:
                draw = noise * total * rng.random()
                cost[row, column] = -10.0 * total
                cost[row, column] -= weight(times[j, k], time_weight, job_left[j], machine_left[k], draw)
    part = cost[: min(n_idle, m_idle), : max(n_idle, m_idle)]
    cheapest_assignment(part, row_of, slack, previous, is_used, u, v)
    for column in range(part.shape[1]):
        row = row_of[column + 1] - 1
        if row >= 0:
            j, k = (jobs[column], machines[row]) if is_wide else (jobs[row], machines[column])
            if not is_done[j, k]:
                is_done[j, k] = True
                job_left[j] -= times[j, k]
                machine_left[k] -= times[j, k]
                job_free[j] = machine_free[k] = now + times[j, k]
                sequence[count] = j * times.shape[1] + k
                count += 1
    return count


def construct(env_data, noise, may_stop):
    """(makespan, sequence) of one schedule, or None if it `may_stop` and the share is spent."""
    n, m = env_data["num_jobs"], env_data["num_machines"]
    times = np.array(env_data["ossp_times"], dtype=np.int32)
    size = max(n, m)
    is_done = np.zeros((n, m), np.bool_)
    clocks = (np.zeros(n, np.int64), np.zeros(m, np.int64))
    lefts = (times.sum(axis=1, dtype=np.int64), times.sum(axis=0, dtype=np.int64))
    idle = (np.zeros(n, np.int64), np.zeros(m, np.int64))
    cost, row_of = np.zeros((min(n, m), size)), np.zeros(size + 1, np.int64)
    work = (
        np.zeros(size + 1), np.zeros(size + 1, np.int64), np.zeros(size + 1, np.bool_), np.zeros(size + 1),
        np.zeros(size + 1),
    )  # fmt: skip
    sequence = np.empty(n * m, np.int32)
    count = 0
    while count < n * m:
        if may_stop and env_data["budget"].exhausted():
            return None
        count = append_matching(
            count, times, is_done, clocks, lefts, TIME_WEIGHT, noise, idle, cost, row_of, work,
            sequence, env_data["rng"],
        )  # fmt: skip
        env_data["budget"].charge(1)
    return int(clocks[1].max()), sequence


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of at most RESTARTS schedules; the first one has no noise."""
    budget = env_data["budget"]
    best = construct(env_data, 0.0, False)
    for _ in range(RESTARTS - 1):
        if budget.exhausted() or best[0] <= env_data["lower_bound"]:
            break
        found = construct(env_data, NOISE, True)
        best = found if found is not None and found[0] < best[0] else best
    state.sequence = best[1]
    return state
