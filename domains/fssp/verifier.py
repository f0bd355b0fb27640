"""Independent verifier: rebuilds the schedule from a sequence and checks every constraint on the times.

It shares no code with the compiled decoder: start times are found machine by machine from the order in which
each machine serves the jobs, not from one scan of the sequence.

The text of a solution file starts with comment lines (``#``: the instance, the meaning of the rows), then a
line ``jobs machines makespan``, then one line per job with the start times of its operations on machines 0,
1, …, m − 1: row by row the counterpart of the instance format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import State, Verdict
from dga2d.domains.core.encoding import repetition_violation
from dga2d.domains.shared.shops.files import schedule_text
from dga2d.domains.shared.shops.verification import overlap_violation, schedule_verdict, start_violation


def verify_sequence(times: NDArray[np.int32], state: State) -> Verdict:
    """Check `state` against an instance, int32 `(jobs, machines)`; never raises on a broken one."""
    violation = repetition_violation(getattr(state, "sequence", None), len(times), times.shape[1], "job")
    return schedule_verdict((times,), state, violation, schedule, schedule_violation)


def schedule(times: NDArray[np.int32], sequence: NDArray[Any]) -> NDArray[np.int64]:
    """Return the earliest start times, int64 `(jobs, machines)`, of a well-formed sequence.

    A job starts on a machine when it has left the machine before and the machine has finished the job it
    serves before.
    """
    starts = np.zeros(times.shape, np.int64)
    left = [0] * times.shape[0]
    for machine, jobs in enumerate(machine_orders(sequence, *times.shape)):
        free = 0
        for job in jobs:
            starts[job, machine] = max(left[job], free)
            left[job] = free = int(starts[job, machine]) + int(times[job, machine])
    return starts


def machine_orders(sequence: NDArray[Any], n_jobs: int, n_machines: int) -> list[list[int]]:
    """Return the jobs in the order in which each machine serves them."""
    orders: list[list[int]] = [[] for _ in range(n_machines)]
    seen = [0] * n_jobs
    for job in sequence.tolist():
        orders[seen[job]].append(job)
        seen[job] += 1
    return orders


def schedule_violation(times: NDArray[np.int32], starts: NDArray[np.int64]) -> str | None:
    """Return the first broken constraint of a schedule given by its start times; ``None`` if it is
    feasible.
    """
    violation = start_violation(times, starts)
    if violation is not None:
        return violation
    ends = starts + times
    for machine in range(1, times.shape[1]):
        early = np.flatnonzero(starts[:, machine] < ends[:, machine - 1])
        if early.size:
            return f"job {early[0]} starts on machine {machine} before it has left machine {machine - 1}"
    rows = zip(starts.T.tolist(), ends.T.tolist(), strict=True)
    return overlap_violation(enumerate(zip(*row, range(len(times)), strict=True) for row in rows))


START_TIMES = "its start times on machines 0, 1, ..."


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Return the makespan by the independent verifier, or the first broken constraint."""
    return verify_sequence(np.asarray(environment["processing_times"]).T, state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the text of a verified solution."""
    starts = schedule(np.asarray(environment["processing_times"]).T, state.sequence)
    return schedule_text(f"file/{name}", START_TIMES, starts, int(objective))
