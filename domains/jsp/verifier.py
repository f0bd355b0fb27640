"""Independent verifier: rebuilds the schedule from a sequence and checks every constraint on the times.

It shares no code with the compiled decoder: start times come from the order in which each machine and each
job serves its operations (longest paths in the schedule's graph), not from a scan of the sequence.

The text of a solution file starts with comment lines (``#``: the instance, the meaning of the rows), then a
line ``jobs machines makespan``, then one line per job with the start times of its operations in technological
order: row by row the counterpart of the "standard" instance format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import State, Verdict
from dga2d.domains.core.encoding import repetition_violation
from dga2d.domains.shared.shops.files import schedule_text
from dga2d.domains.shared.shops.verification import overlap_violation, schedule_verdict

Operation = tuple[int, int]
"""Job and index in the job's technological order, both from 0."""


def verify_sequence(machines: NDArray[np.int32], times: NDArray[np.int32], state: State) -> Verdict:
    """Check `state` against an instance; never raises on a broken one."""
    violation = repetition_violation(getattr(state, "sequence", None), len(times), times.shape[1], "job")
    return schedule_verdict((machines, times), state, violation, schedule, schedule_violation)


def schedule(
    machines: NDArray[np.int32], times: NDArray[np.int32], sequence: NDArray[Any]
) -> NDArray[np.int64]:
    """Return the earliest start times, int64 `(jobs, machines)` in technological order, of a well-formed
    sequence.

    Every machine serves operations in the order of the sequence; an operation starts when its predecessors
    in the job and on the machine have ended (longest paths, by repeatedly settling operations whose
    predecessors are settled).
    """
    n_jobs, n_machines = machines.shape
    queues = _machine_queues(machines, sequence)
    starts = np.zeros((n_jobs, n_machines), np.int64)
    done, served = [0] * n_jobs, [0] * n_machines
    ready = list(range(n_machines))
    while ready:
        machine = ready.pop()
        queue = queues[machine]
        while served[machine] < len(queue):
            job, k = queue[served[machine]]
            if done[job] != k:
                break
            starts[job, k] = _earliest(times, starts, queue, served[machine])
            served[machine] += 1
            done[job] += 1
            if k + 1 < n_machines:
                ready.append(int(machines[job, k + 1]))
    return starts


def _machine_queues(machines: NDArray[np.int32], sequence: NDArray[Any]) -> list[list[Operation]]:
    queues: list[list[Operation]] = [[] for _ in range(machines.shape[1])]
    seen = [0] * machines.shape[0]
    for job in sequence.tolist():
        queues[int(machines[job, seen[job]])].append((job, seen[job]))
        seen[job] += 1
    return queues


def _earliest(times: NDArray[np.int32], starts: NDArray[np.int64], queue: list[Operation], place: int) -> int:
    job, k = queue[place]
    job_free = int(starts[job, k - 1]) + int(times[job, k - 1]) if k else 0
    if place == 0:
        return job_free
    before = queue[place - 1]
    return max(job_free, int(starts[before]) + int(times[before]))


def schedule_violation(
    machines: NDArray[np.int32], times: NDArray[np.int32], starts: NDArray[np.int64]
) -> str | None:
    """Return the first broken constraint of a schedule given by its start times; ``None`` if it is
    feasible.
    """
    n_jobs, n_machines = machines.shape
    if starts.min() < 0:
        return "an operation starts before time 0"
    by_machine: list[list[tuple[int, int, int]]] = [[] for _ in range(n_machines)]
    for job in range(n_jobs):
        for k in range(n_machines):
            start, end = int(starts[job, k]), int(starts[job, k]) + int(times[job, k])
            if k and start < int(starts[job, k - 1]) + int(times[job, k - 1]):
                return f"operation {k} of job {job} starts before operation {k - 1} ends"
            by_machine[int(machines[job, k])].append((start, end, job))
    return overlap_violation(enumerate(by_machine))


START_TIMES = "the start times of its operations in technological order"


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Return the makespan by the independent verifier, or the first broken constraint."""
    return verify_sequence(environment["machines_matrix"], environment["times_matrix"], state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the text of a verified solution."""
    starts = schedule(environment["machines_matrix"], environment["times_matrix"], state.sequence)
    return schedule_text(f"file/{name}", START_TIMES, starts, int(objective))
