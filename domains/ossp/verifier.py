"""Independent verifier: rebuilds the schedule from a sequence and checks every constraint on the times.

It shares no code with the compiled decoder: start times come from the order in which each job and each
machine serves its operations (longest paths in the schedule's graph), not from a scan of the sequence.

The text of a solution file starts with comment lines (``#``: the instance, the meaning of the rows), then a
line ``jobs machines makespan``, then one line per job with the start times of its operations by machine: row
by row the counterpart of the published instance format.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import State, Verdict
from dga2d.domains.core.encoding import permutation_violation
from dga2d.domains.shared.shops.files import schedule_text
from dga2d.domains.shared.shops.verification import overlap_violation, schedule_verdict, start_violation


def verify_sequence(times: NDArray[np.int32], state: State) -> Verdict:
    """Check `state` against an instance; never raises on a broken one."""
    violation = permutation_violation(getattr(state, "sequence", None), times.size, "operation")
    return schedule_verdict((times,), state, violation, schedule, schedule_violation)


def schedule(times: NDArray[np.int32], sequence: NDArray[Any]) -> NDArray[np.int64]:
    """Return the earliest start times, int64 `(jobs, machines)`, of a well-formed sequence.

    Jobs and machines serve operations in the order of the sequence; an operation starts when its
    predecessors in the job and on the machine have ended (longest paths, by settling an operation once all
    its predecessors are settled).
    """
    successors, waits_for = _graph(sequence, *times.shape)
    starts = np.zeros(times.shape, np.int64)
    flat, durations = starts.reshape(-1), times.reshape(-1).tolist()
    ready = [operation for operation, count in enumerate(waits_for) if count == 0]
    while ready:
        operation = ready.pop()
        end = int(flat[operation]) + durations[operation]
        for after in successors[operation]:
            flat[after] = max(int(flat[after]), end)
            waits_for[after] -= 1
            if waits_for[after] == 0:
                ready.append(after)
    return starts


def _graph(sequence: NDArray[Any], n_jobs: int, n_machines: int) -> tuple[list[list[int]], list[int]]:
    """Return the direct successors of every operation and the number of its direct predecessors."""
    queues: list[list[int]] = [[] for _ in range(n_jobs + n_machines)]
    for operation in sequence.tolist():
        job, machine = divmod(operation, n_machines)
        queues[job].append(operation)
        queues[n_jobs + machine].append(operation)
    successors: list[list[int]] = [[] for _ in range(sequence.size)]
    waits_for = [0] * sequence.size
    for queue in queues:
        for before, after in pairwise(queue):
            successors[before].append(after)
            waits_for[after] += 1
    return successors, waits_for


def schedule_violation(times: NDArray[np.int32], starts: NDArray[np.int64]) -> str | None:
    """Return the first broken constraint of a schedule given by its start times; ``None`` if it is
    feasible.
    """
    violation = start_violation(times, starts)
    if violation is not None:
        return violation
    for kind, begin, duration in (("job", starts, times), ("machine", starts.T, times.T)):
        other = "machine" if kind == "job" else "job"
        rows = zip(begin.tolist(), (begin + duration).tolist(), strict=True)
        intervals = (zip(*row, range(len(row[0])), strict=True) for row in rows)
        violation = overlap_violation(enumerate(intervals), f"operations of {other}s", kind)
        if violation is not None:
            return violation
    return None


START_TIMES = "the start time of its operation on each machine"


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Return the makespan by the independent verifier, or the first broken constraint."""
    return verify_sequence(environment["ossp_times"], state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the text of a verified solution."""
    starts = schedule(environment["ossp_times"], state.sequence)
    return schedule_text(f"file/{name}", START_TIMES, starts, int(objective))
