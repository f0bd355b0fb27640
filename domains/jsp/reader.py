"""Reader of the "standard" job-shop format.

Comment lines start with ``#``; the first data line is ``jobs machines``; then follows one line per job of
``machine time`` pairs in technological order, machines counted from 0, or from 1 (see
`shops.files.first_machine`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.instance_data import ReadOnlyArrays
from dga2d.domains.jsp.card import INVALID_SCORE
from dga2d.domains.shared.integer_lines import read_text
from dga2d.domains.shared.shops.files import first_machine, job_lines, machine_times

SUFFIXES = ("", ".txt", ".jsp", ".jss")
"""Names an instance file may end in."""


@dataclass(frozen=True)
class JobShopData(ReadOnlyArrays):
    """Machines and times of all operations: two read-only int32 `(jobs, machines)` arrays."""

    machines: NDArray[np.int32]
    times: NDArray[np.int32]


def read_instance(path: Path) -> JobShopData:
    """Read one file of the standard format.

    Raises
    ------
    InstanceFormatError
        The file is missing, is not text, holds something else than integers, has wrong counts, is
        truncated, repeats a machine in a job, names a machine out of range, has a negative time or goes
        on after the last job.
    """
    return parse_instance(read_text(path), path)


def parse_instance(text: str, path: Path | str) -> JobShopData:
    """Parse the text of a file; `path` names it in errors. See :func:`read_instance`."""
    n_machines, lines = job_lines(text, path)
    first = first_machine((machine for _, values in lines for machine in values[::2]), n_machines)
    rows = [_job(path, line, values, n_machines, first) for line, values in lines]
    table = np.array(rows, dtype=np.int64).reshape(len(rows), n_machines, 2)
    if int(table[:, :, 1].sum()) >= INVALID_SCORE:
        raise InstanceFormatError(path, None, f"times add up to {INVALID_SCORE} or more")
    return JobShopData(table[:, :, 0].astype(np.int32), table[:, :, 1].astype(np.int32))


def _job(
    path: Path | str, line: int, values: list[int], n_machines: int, first: int
) -> list[tuple[int, int]]:
    if len(values) != 2 * n_machines:
        raise InstanceFormatError(path, line, f"expected {2 * n_machines} numbers, got {len(values)}")
    return machine_times(path, line, values, n_machines, "job", first)


def operator_environment(machines: NDArray[np.int32], times: NDArray[np.int32]) -> dict[str, Any]:
    """Return the card's keys for `machines` and `times`, int32 `(jobs, machines)`; fresh, writable copies."""
    n_jobs, n_machines = machines.shape
    return {
        "num_jobs": int(n_jobs),
        "num_machines": int(n_machines),
        "machines_matrix": np.array(machines, dtype=np.int32),
        "times_matrix": np.array(times, dtype=np.int32),
        "total_ops": int(n_jobs * n_machines),
    }


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the instance in a file; raises InstanceFormatError."""
    data = read_instance(path)
    return operator_environment(data.machines, data.times)
