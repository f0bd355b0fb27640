"""Independent verifier: rebuilds the schedule and checks every constraint on machines and start times.

It shares no code with the compiled decoder: start times come from the order in which each machine and each
job serves its operations (longest paths in the schedule's graph), not from a scan of the sequence.

The text of a solution file starts with comment lines (``#``: the instance, the meaning of the rows), then a
line ``jobs machines makespan``, then one line per job: the number of its operations and, for each in
technological order, ``machine start end``; machines and time count from 0. Row by row it is the counterpart
of the instance format, with the chosen machine in place of the eligible ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dga2d.domains.core.contract import State, Verdict
from dga2d.domains.core.encoding import array_violation
from dga2d.domains.fjsp.card import MACHINE_ALLOCATION
from dga2d.domains.fjsp.reader import FlexibleShopData
from dga2d.domains.shared.shops.verification import overlap_violation

Choices = list[list[dict[int, int]]]
"""Per job and operation: eligible machine → processing time."""


class ScheduledTask(NamedTuple):
    """One scheduled operation."""

    machine: int
    start: int
    end: int


Schedule = list[list[ScheduledTask]]
"""Per job, its operations in technological order."""


def choices_of(data: FlexibleShopData) -> Choices:
    """Return the instance as plain Python: per job and operation the times by eligible machine."""
    return [
        [
            {m: t for m, t in zip(machines, times, strict=True) if m >= 0}
            for machines, times in zip(job_machines[:count], job_times[:count], strict=True)
        ]
        for job_machines, job_times, count in zip(
            data.machines.tolist(), data.times.tolist(), data.op_counts.tolist(), strict=True
        )
    ]


def verify_state(data: FlexibleShopData, state: State) -> Verdict:
    """Check `state` against an instance; never raises on a broken one."""
    choices = choices_of(data)
    violation = state_violation(choices, int(data.op_counts.max()), state)
    if violation is not None:
        return Verdict(None, violation)
    tasks = schedule(choices, state)
    violation = schedule_violation(choices, tasks)
    if violation is not None:
        return Verdict(None, violation)
    return Verdict(float(max(job[-1].end for job in tasks)), None)


def state_violation(choices: Choices, max_ops: int, state: State) -> str | None:
    """Return why `state` is not a well-formed pair of sequence and allocation; ``None`` if it is."""
    sequence: Any = getattr(state, "sequence", None)
    violation = array_violation(sequence, sum(map(len, choices)))
    if violation is not None:
        return violation
    counts = [0] * len(choices)
    for job in sequence.tolist():
        if not 0 <= job < len(choices):
            return f"job {job} is not in 0..{len(choices) - 1}"
        counts[job] += 1
    for job, (count, operations) in enumerate(zip(counts, choices, strict=True)):
        if count != len(operations):
            return f"job {job} occurs {count} times, expected {len(operations)}"
    return _allocation_violation(choices, max_ops, getattr(state, "metadata", None))


def _allocation_violation(choices: Choices, max_ops: int, metadata: Any) -> str | None:
    if type(metadata) is not dict or MACHINE_ALLOCATION not in metadata:
        return f"metadata has no {MACHINE_ALLOCATION}"
    allocation = metadata[MACHINE_ALLOCATION]
    if type(allocation) is not np.ndarray:
        return f"{MACHINE_ALLOCATION} is a {type(allocation).__name__}, not an array"
    if not np.issubdtype(allocation.dtype, np.integer):
        return f"{MACHINE_ALLOCATION} has dtype {allocation.dtype}, not an integer one"
    if allocation.shape != (len(choices), max_ops):
        return f"{MACHINE_ALLOCATION} has shape {allocation.shape}, expected {(len(choices), max_ops)}"
    for job, (row, operations) in enumerate(zip(allocation.tolist(), choices, strict=True)):
        for k, (machine, times) in enumerate(zip(row, operations, strict=False)):
            if machine not in times:
                return f"machine {machine} is not eligible for operation {k} of job {job}"
    return None


def schedule(choices: Choices, state: State) -> Schedule:
    """Return the semi-active schedule of a well-formed state.

    Every machine serves operations in the order of the sequence; an operation starts when its predecessors
    in the job and on the machine have ended (longest paths, by repeatedly settling operations whose
    predecessors are settled).
    """
    allocation = state.metadata[MACHINE_ALLOCATION].tolist()
    queues = _machine_queues(allocation, state.sequence.tolist())
    tasks: Schedule = [[] for _ in choices]
    served, free = dict.fromkeys(queues, 0), dict.fromkeys(queues, 0)
    ready = list(queues)
    while ready:
        machine = ready.pop()
        queue = queues[machine]
        while served[machine] < len(queue):
            job, k = queue[served[machine]]
            if len(tasks[job]) != k:
                break
            start = max(free[machine], tasks[job][-1].end if k else 0)
            free[machine] = start + choices[job][k][machine]
            tasks[job].append(ScheduledTask(machine, start, free[machine]))
            served[machine] += 1
            if k + 1 < len(choices[job]):
                ready.append(allocation[job][k + 1])
    return tasks


def _machine_queues(allocation: list[list[int]], sequence: list[int]) -> dict[int, list[tuple[int, int]]]:
    queues: dict[int, list[tuple[int, int]]] = {}
    seen = [0] * len(allocation)
    for job in sequence:
        queues.setdefault(allocation[job][seen[job]], []).append((job, seen[job]))
        seen[job] += 1
    return queues


def schedule_violation(choices: Choices, tasks: Schedule) -> str | None:
    """Return the first broken constraint of a schedule; ``None`` if it is feasible."""
    by_machine: dict[int, list[tuple[int, int, int]]] = {}
    for job, (operations, row) in enumerate(zip(choices, tasks, strict=True)):
        if len(row) != len(operations):
            return f"job {job} has {len(row)} operations, expected {len(operations)}"
        before = 0
        for k, (times, task) in enumerate(zip(operations, row, strict=True)):
            if task.machine not in times:
                return f"machine {task.machine} is not eligible for operation {k} of job {job}"
            if task.end - task.start != times[task.machine]:
                return f"operation {k} of job {job} does not take {times[task.machine]}"
            if task.start < before:
                return _too_early(job, k)
            before = task.end
            by_machine.setdefault(task.machine, []).append((task.start, task.end, job))
    return overlap_violation(sorted(by_machine.items()))


def _too_early(job: int, k: int) -> str:
    if k == 0:
        return f"job {job} starts before time 0"
    return f"operation {k} of job {job} starts before operation {k - 1} ends"


def schedule_text(key: str, n_machines: int, tasks: Schedule) -> str:
    """Return the text of the schedule file of instance `key`."""
    makespan = max(job[-1].end for job in tasks)
    lines = [
        f"# instance {key}",
        "# jobs machines makespan, then per job its number of operations and machine, start, end of each",
        f"{len(tasks)} {n_machines} {makespan}",
    ]
    for job in tasks:
        lines.append(" ".join(map(str, [len(job), *(number for task in job for number in task)])))
    return "\n".join(lines) + "\n"


def _data_of(environment: Mapping[str, Any]) -> FlexibleShopData:
    arrays = (environment[key].copy() for key in ("op_counts", "machines_matrix", "times_matrix"))
    return FlexibleShopData(environment["num_machines"], *arrays)


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Return the makespan by the independent verifier, or the first broken constraint."""
    return verify_state(_data_of(environment), state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the text of a verified solution, which has makespan `objective`."""
    tasks = schedule(choices_of(_data_of(environment)), state)
    return schedule_text(f"file/{name}", environment["num_machines"], tasks)
