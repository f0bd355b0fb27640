"""Construction by a series of matchings; the best of several schedules is returned.

Method: in each round every machine gets a job and every job a machine, by a matching of the operations left
that prefers jobs and machines with much work left (with noise). The rounds follow one another in the
sequence, so that within a round nobody waits for anybody; the operations of a round are ordered by the time
at which they can start.

Source: H. Bräsel, T. Tautenhahn, F. Werner, Constructive heuristic algorithms for the open shop problem,
1993; C. Guéret, C. Prins, Classical and new heuristics for the open-shop problem, 1998. The matchings are
found by successive shortest paths (H. W. Kuhn, The Hungarian method for the assignment problem, 1955).

Complexity: O(s³) per round, O(s⁴) per schedule for s = max(n, m).
"""

import numpy as np
from numba import njit

RESTARTS = 10  # tunable: int 1..1000
NOISE = 0.1  # tunable: float 0.0..2.0
TIME_WEIGHT = 0.5  # tunable: float -2.0..2.0


# exchangeable: matching-weight
@njit(cache=True)
def weight(time, time_weight, job_left, machine_left, draw):
    """Worth of serving an operation in this round; `draw` is uniform on [0, 1)."""
    return job_left + machine_left + time_weight * time + draw


@njit(cache=True)
def cheapest_assignment(cost, row_of, slack, previous, is_used, u, v):
    """Assignment of all rows to columns of the square matrix `cost` with the least sum, into `row_of`.

    Rows and columns count from 1 in `row_of` and in the work arrays, all of length size + 1.
    """
    size = cost.shape[0]
    u[:] = 0.0
    v[:] = 0.0
    row_of[:] = 0
    for row in range(1, size + 1):
        row_of[0] = row
        column = 0
        slack[:] = np.inf
        is_used[:] = False
        while row_of[column] != 0:
            is_used[column] = True
            i, least, closest = row_of[column], np.inf, 0
            for j in range(1, size + 1):
                if not is_used[j]:
                    reduced = cost[i - 1, j - 1] - u[i] - v[j]
                    if reduced < slack[j]:
                        slack[j], previous[j] = reduced, column
                    if slack[j] < least:
                        least, closest = slack[j], j
            for j in range(size + 1):
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
def append_round(count, times, is_done, clocks, lefts, time_weight, noise, cost, row_of, work, sequence, rng):
    """Append the operations of one matching to the first `count` of `sequence`; returns the new count."""
    n, m = times.shape
    job_free, machine_free = clocks
    job_left, machine_left = lefts
    slack, previous, is_used, u, v, keys = work
    size = cost.shape[0]
    total = 1.0 + job_left.max() + machine_left.max()
    for j in range(size):
        for k in range(size):
            cost[j, k] = 0.0  # a row or column beyond the jobs or machines, or an operation served before
            if j < n and k < m and not is_done[j, k]:
                draw = noise * total * rng.random()
                cost[j, k] = -10.0 * total
                cost[j, k] -= weight(times[j, k], time_weight, job_left[j], machine_left[k], draw)
    cheapest_assignment(cost, row_of, slack, previous, is_used, u, v)
    start = count
    for k in range(m):
        j = row_of[k + 1] - 1
        if j < n and not is_done[j, k]:
            is_done[j, k] = True
            job_left[j] -= times[j, k]
            machine_left[k] -= times[j, k]
            key = max(job_free[j], machine_free[k])
            place = count
            while place > start and keys[place - 1] > key:
                keys[place], sequence[place] = keys[place - 1], sequence[place - 1]
                place -= 1
            keys[place], sequence[place] = key, j * m + k
            count += 1
    for i in range(start, count):
        j, k = sequence[i] // m, sequence[i] % m
        job_free[j] = machine_free[k] = max(job_free[j], machine_free[k]) + times[j, k]
    return count


def construct(env_data, noise):
    """(makespan, sequence) of one series of matchings; one unit of work per round."""
    n, m = env_data["num_jobs"], env_data["num_machines"]
    times = np.array(env_data["ossp_times"], dtype=np.int32)
    size = max(n, m)
    is_done = np.zeros((n, m), np.bool_)
    clocks = (np.zeros(n, np.int64), np.zeros(m, np.int64))
    lefts = (times.sum(axis=1, dtype=np.int64), times.sum(axis=0, dtype=np.int64))
    cost, row_of = np.zeros((size, size)), np.zeros(size + 1, np.int64)
    work = (
        np.zeros(size + 1), np.zeros(size + 1, np.int64), np.zeros(size + 1, np.bool_), np.zeros(size + 1),
        np.zeros(size + 1), np.zeros(n * m, np.int64),
    )  # fmt: skip
    sequence = np.empty(n * m, np.int32)
    count = 0
    while count < n * m:
        count = append_round(
            count, times, is_done, clocks, lefts, TIME_WEIGHT, noise, cost, row_of, work, sequence,
            env_data["rng"],
        )  # fmt: skip
        env_data["budget"].charge(1)
    return int(clocks[1].max()), sequence


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of at most RESTARTS schedules; the first one has no noise."""
    budget = env_data["budget"]
    best = None
    for restart in range(RESTARTS):
        found = construct(env_data, NOISE if restart else 0.0)
        best = found if best is None or found[0] < best[0] else best
        if budget.exhausted() or best[0] <= env_data["lower_bound"]:
            break
    state.sequence = best[1]
    return state
