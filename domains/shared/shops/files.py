"""What the shop problems have in common: the frame of their instance and solution files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.instance_data import ReadOnlyArrays
from dga2d.domains.shared.integer_lines import integer_lines

TABLE: Final = "taillard.json"
"""Seeds, sizes and best-known values of Taillard's instances by name, in the package of each shop."""


@dataclass(frozen=True)
class ProcessingTimes(ReadOnlyArrays):
    """All that a flow or open shop consists of: an int32 `(jobs, machines)` array."""

    times: NDArray[np.int32]


def job_lines(text: str, path: Path | str) -> tuple[int, list[tuple[int, list[int]]]]:
    """Return the number of machines, and line number and integers of each job's line.

    Comment lines start with ``#``; the first data line is ``jobs machines``; then follows one line per job.

    Raises
    ------
    InstanceFormatError
        Something else than integers, a wrong header, or more or fewer lines than jobs.
    """
    lines = list(integer_lines(text, path))
    if not lines:
        raise InstanceFormatError(path, None, "no data line")
    n_jobs, n_machines = _header(path, *lines[0])
    if len(lines) - 1 < n_jobs:
        raise InstanceFormatError(path, lines[-1][0], f"expected {n_jobs} job lines, found {len(lines) - 1}")
    if len(lines) - 1 > n_jobs:
        raise InstanceFormatError(path, lines[n_jobs + 1][0], f"data after the last of {n_jobs} jobs")
    return n_machines, lines[1:]


def _header(path: Path | str, line: int, values: list[int]) -> tuple[int, int]:
    if len(values) != 2:
        raise InstanceFormatError(path, line, f"expected 'jobs machines', got {len(values)} numbers")
    if min(values) < 1:
        raise InstanceFormatError(path, line, "expected at least one job and one machine")
    return values[0], values[1]


def first_machine(machines: Iterable[int], n_machines: int) -> int:
    """Return 1 if a file counts its machines from 1, as many collections do, else 0.

    It does if it names machine `n_machines` and no machine 0. `machines` are all that it names; where neither
    occurs both ways of counting describe the same shop, but for the name of a machine that nothing visits.
    """
    named = set(machines)
    return int(n_machines in named and 0 not in named)


def machine_times(
    path: Path | str, line: int, numbers: list[int], n_machines: int, owner: str, first: int = 0
) -> list[tuple[int, int]]:
    """Return the ``machine time`` pairs of `numbers`, which are even in number, machines from 0; `owner` is
    what they belong to, `first` the file's first machine.

    Raises
    ------
    InstanceFormatError
        A machine is out of range or occurs twice, or a time is negative.
    """
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    seen: set[int] = set()
    for machine, time in pairs:
        if not first <= machine < first + n_machines:
            allowed = f"{first}..{first + n_machines - 1}"
            raise InstanceFormatError(path, line, f"machine {machine} is not in {allowed}")
        if machine in seen:
            raise InstanceFormatError(path, line, f"machine {machine} occurs twice in one {owner}")
        if time < 0:
            raise InstanceFormatError(path, line, f"negative time {time}")
        seen.add(machine)
    return [(machine - first, time) for machine, time in pairs]


def schedule_text(key: str, columns: str, starts: NDArray[np.int64], makespan: int) -> str:
    """Return the text of a schedule, row by row the counterpart of the instance format.

    Comment lines (``#``: the instance, the meaning of the columns), then ``jobs machines makespan``, then one
    line per job with the start times `starts`, int64 `(jobs, machines)`, in the order that `columns` names.
    """
    n_jobs, n_machines = starts.shape
    lines = [
        f"# instance {key}",
        f"# jobs machines makespan, then per job {columns}",
        f"{n_jobs} {n_machines} {makespan}",
        *(" ".join(map(str, row)) for row in starts.tolist()),
    ]
    return "\n".join(lines) + "\n"
