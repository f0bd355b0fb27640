"""Reader of the flexible job-shop format.

The first data line is ``jobs machines``, to which some collections add the mean number of machines per
operation, a decimal number that is checked for its form and not used. Then follows one line per job: the
number of its operations and, for each, the number of eligible machines and as many ``machine time`` pairs,
machines counted from 0, or from 1 (see `shops.files.first_machine`). Blank lines and lines that start with
``#`` are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.instance_data import ReadOnlyArrays
from dga2d.domains.fjsp.card import INVALID_SCORE
from dga2d.domains.shared.integer_lines import read_text
from dga2d.domains.shared.shops.files import first_machine, job_lines, machine_times

SUFFIXES = (".txt", ".fjs")
"""Names an instance file may end in."""

MAX_TABLE_ENTRIES = 100_000_000
"""Largest jobs × operations × machines: the size of the environment's table of times."""

Choice = tuple[int, int]
"""An eligible machine and the time the operation takes there."""
Operation = Sequence[Choice]
"""The eligible machines of an operation, at least one."""

_FLEXIBILITY = re.compile(r"([ \t]*-?[0-9]+[ \t]+-?[0-9]+)[ \t]+[0-9]+(?:\.[0-9]*)?([ \t]*\r?)")


@dataclass(frozen=True)
class FlexibleShopData(ReadOnlyArrays):
    """All operations of all jobs.

    op_counts: int32 `(jobs,)`, operations of each job, ≥ 1. machines, times: int32 `(jobs, max_ops, w)`, the
    eligible machines of an operation and the times there, w the largest number of them; −1 in both beyond an
    operation's last machine and beyond a job's last operation. The arrays are read-only.
    """

    n_machines: int
    op_counts: NDArray[np.int32]
    machines: NDArray[np.int32]
    times: NDArray[np.int32]


def tabulate(n_machines: int, jobs: Sequence[Sequence[Operation]]) -> FlexibleShopData:
    """Return the padded arrays of well-formed `jobs`."""
    counts = np.array([len(job) for job in jobs], dtype=np.int32)
    width = max(len(operation) for job in jobs for operation in job)
    table = np.full((len(jobs), int(counts.max()), width, 2), -1, dtype=np.int32)
    for j, job in enumerate(jobs):
        for k, operation in enumerate(job):
            table[j, k, : len(operation)] = operation
    return FlexibleShopData(n_machines, counts, table[..., 0].copy(), table[..., 1].copy())


def read_instance(path: Path) -> FlexibleShopData:
    """Read one file.

    Raises
    ------
    InstanceFormatError
        The file is missing, is not text, holds something else than integers, has wrong counts, is truncated,
        repeats a machine in an operation, names a machine out of range, has a job without operations, an
        operation without machines or a negative time, or goes on after the last job.
    """
    return parse_instance(read_text(path), path)


def parse_instance(text: str, path: Path | str) -> FlexibleShopData:
    """Parse the text of a file; `path` names it in errors. See :func:`read_instance`."""
    n_machines, lines = job_lines(_without_flexibility(text), path)
    first = first_machine((machine for _, values in lines for machine in _machines(values)), n_machines)
    jobs = [_job(path, line, values, n_machines, first) for line, values in lines]
    if len(jobs) * max(map(len, jobs)) * n_machines > MAX_TABLE_ENTRIES:
        raise InstanceFormatError(path, None, f"more than {MAX_TABLE_ENTRIES} jobs x operations x machines")
    if sum(max(time for _, time in operation) for job in jobs for operation in job) >= INVALID_SCORE:
        raise InstanceFormatError(path, None, f"times add up to {INVALID_SCORE} or more")
    return tabulate(n_machines, jobs)


def _without_flexibility(text: str) -> str:
    """Return `text` without the third number of its first data line, if that line has three numbers."""
    start = 0
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            match = _FLEXIBILITY.fullmatch(line)
            return text if match is None else text[:start] + match[1] + match[2] + text[start + len(line) :]
        start += len(line) + 1
    return text


def _machines(values: list[int]) -> list[int]:
    """Return the machines that a job's line names, up to where it breaks the format, if it does."""
    machines: list[int] = []
    place = 1
    while place < len(values) and values[place] > 0:
        end = place + 1 + 2 * values[place]
        machines += values[place + 1 : end : 2]
        place = end
    return machines


def _job(path: Path | str, line: int, values: list[int], n_machines: int, first: int) -> list[list[Choice]]:
    if values[0] < 1:
        raise InstanceFormatError(path, line, f"expected at least one operation, got {values[0]}")
    job: list[list[Choice]] = []
    place = 1
    while len(job) < values[0]:
        if place >= len(values):
            raise InstanceFormatError(path, line, f"expected {values[0]} operations, got {len(job)}")
        operation = _operation(path, line, values, place, n_machines, first)
        job.append(operation)
        place += 1 + 2 * len(operation)
    if place < len(values):
        raise InstanceFormatError(path, line, f"numbers after the last of {values[0]} operations")
    return job


def _operation(
    path: Path | str, line: int, values: list[int], place: int, n_machines: int, first: int
) -> list[Choice]:
    count = values[place]
    if not 1 <= count <= n_machines:
        raise InstanceFormatError(path, line, f"{count} eligible machines, expected 1..{n_machines}")
    numbers = values[place + 1 : place + 1 + 2 * count]
    if len(numbers) < 2 * count:
        raise InstanceFormatError(path, line, f"expected {count} pairs of machine and time, the line ends")
    return machine_times(path, line, numbers, n_machines, "operation", first)


def operator_environment(
    n_machines: int, op_counts: NDArray[np.int32], machines: NDArray[np.int32], times: NDArray[np.int32]
) -> dict[str, Any]:
    """Return the card's keys for the arrays of a :class:`~dga2d.domains.fjsp.reader.FlexibleShopData`;
    copies.
    """
    n_jobs, max_ops, _ = machines.shape
    return {
        "num_jobs": int(n_jobs),
        "num_machines": int(n_machines),
        "op_counts": np.array(op_counts, dtype=np.int32),
        "eligible_counts": (machines >= 0).sum(axis=2).astype(np.int32),
        "machines_matrix": np.array(machines, dtype=np.int32),
        "times_matrix": np.array(times, dtype=np.int32),
        "processing_matrix": processing_matrix(n_machines, machines, times),
        "max_ops": int(max_ops),
        "total_ops": int(op_counts.sum()),
    }


def processing_matrix(
    n_machines: int, machines: NDArray[np.int32], times: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the times by machine id, float64 `(jobs, max_ops, n_machines)`, inf where a machine is not
    eligible.
    """
    table = np.full((*machines.shape[:2], n_machines), np.inf)
    job, operation, entry = np.nonzero(machines >= 0)
    table[job, operation, machines[job, operation, entry]] = times[job, operation, entry]
    return table


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the instance in a file; raises InstanceFormatError."""
    data = read_instance(path)
    return operator_environment(data.n_machines, data.op_counts, data.machines, data.times)
