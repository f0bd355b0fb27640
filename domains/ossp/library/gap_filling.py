"""Forward and backward rescheduling into idle gaps.

Method: the operations are scheduled anew in the order of their starts, each at the earliest time at which
its job and its machine are both idle for long enough, gaps before later operations included; then the same
is done with time reversed. No pass makes the schedule longer. It ends when PASSES passes in a row brought
nothing.

Source: K. Y. Li, R. J. Willis, An iterative scheduling technique for resource-constrained project scheduling,
1992 (forward and backward passes); C. Guéret, C. Prins, Classical and new heuristics for the open-shop
problem, 1998 (insertion into gaps).

Complexity: O(N (n + m)) per pass in practice for N operations, n jobs and m machines.
"""

import numpy as np
from numba import njit

PASSES = 4  # tunable: int 1..100


@njit(cache=True)
def earliest_gap(time, starts, ends, others_starts, others_ends, count, other_count):
    """First time from which `time` units are free of two lists of intervals."""
    start = np.int64(0)
    moved = True
    while moved:
        moved = False
        for i in range(count):
            if starts[i] < start + time and ends[i] > start:
                start, moved = ends[i], True
        for i in range(other_count):
            if others_starts[i] < start + time and others_ends[i] > start:
                start, moved = others_ends[i], True
    return start


@njit(cache=True)
def fill(sequence, times, starts):
    """Write the start of every operation into `starts`, taken in the order of `sequence`; the makespan."""
    n, m = times.shape
    job_starts, job_ends = np.zeros((n, m), np.int64), np.zeros((n, m), np.int64)
    machine_starts, machine_ends = np.zeros((m, n), np.int64), np.zeros((m, n), np.int64)
    of_job, on_machine = np.zeros(n, np.int64), np.zeros(m, np.int64)
    makespan = np.int64(0)
    for x in sequence:
        j, k = x // m, x % m
        a, b = of_job[j], on_machine[k]
        start = earliest_gap(
            times[j, k], job_starts[j], job_ends[j], machine_starts[k], machine_ends[k], a, b
        )
        starts[x] = start
        job_starts[j, a] = machine_starts[k, b] = start
        job_ends[j, a] = machine_ends[k, b] = start + times[j, k]
        of_job[j] += 1
        on_machine[k] += 1
        makespan = max(makespan, start + times[j, k])
    return makespan


def run(env_data, state, calc_makespan_fn):
    """Pass to and fro over `state` until PASSES passes brought nothing or the share is spent."""
    budget = env_data["budget"]
    times = np.array(env_data["ossp_times"], dtype=np.int32)
    sequence = np.array(state.sequence, dtype=np.int32)
    p = times.ravel()
    starts = np.empty(sequence.size, np.int64)
    shortest, failures, is_reversed = None, 0, False
    while failures < PASSES:
        makespan = fill(sequence, times, starts)
        budget.charge(1)
        failures = 0 if shortest is None or makespan < shortest else failures + 1
        shortest = makespan
        by_start = np.lexsort((starts + p, starts)).astype(np.int32)
        opposite = np.lexsort((makespan - starts, makespan - starts - p)).astype(np.int32)
        state.sequence = opposite if is_reversed else by_start
        if budget.exhausted():
            break
        sequence, is_reversed = opposite, not is_reversed
    return state
