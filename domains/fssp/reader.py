"""Reader of flow-shop instances: the "standard" job-shop format in which every job visits 0, 1, …, m − 1.

Comment lines start with ``#``; the first data line is ``jobs machines``; then follows one line per job of
``machine time`` pairs, machines in this order, counted from 0, or from 1 (see
`shops.files.first_machine`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.fssp.card import INVALID_SCORE
from dga2d.domains.shared.integer_lines import read_text
from dga2d.domains.shared.shops.files import ProcessingTimes, first_machine, job_lines

SUFFIXES = ("", ".txt", ".jss")
"""Names an instance file may end in."""


def read_instance(path: Path) -> ProcessingTimes:
    """Read one file of the format.

    Raises
    ------
    InstanceFormatError
        The file is missing, is not text, holds something else than integers, has wrong counts, is
        truncated, lets a job visit the machines in another order, has a negative time or goes on after the
        last job.
    """
    return parse_instance(read_text(path), path)


def parse_instance(text: str, path: Path | str) -> ProcessingTimes:
    """Parse the text of a file; `path` names it in errors. See :func:`read_instance`."""
    n_machines, lines = job_lines(text, path)
    first = first_machine((machine for _, values in lines for machine in values[::2]), n_machines)
    times = np.array([_job(path, line, values, n_machines, first) for line, values in lines], dtype=np.int64)
    if int(times.sum()) >= INVALID_SCORE:
        raise InstanceFormatError(path, None, f"times add up to {INVALID_SCORE} or more")
    return ProcessingTimes(times.astype(np.int32))


def _job(path: Path | str, line: int, values: list[int], n_machines: int, first: int) -> list[int]:
    """Return the times of a job by machine."""
    if len(values) != 2 * n_machines:
        raise InstanceFormatError(path, line, f"expected {2 * n_machines} numbers, got {len(values)}")
    for place, (machine, time) in enumerate(zip(values[::2], values[1::2], strict=True), start=first):
        if machine != place:
            raise InstanceFormatError(
                path, line, f"expected machine {place}, got {machine}: all jobs visit the machines in order"
            )
        if time < 0:
            raise InstanceFormatError(path, line, f"negative time {time}")
    return values[1::2]


def operator_environment(times: NDArray[np.int32]) -> dict[str, Any]:
    """Return the card's keys for `times`, int32 `(jobs, machines)`; fresh, writable copies."""
    n_jobs, n_machines = times.shape
    return {
        "num_jobs": int(n_jobs),
        "num_machines": int(n_machines),
        "processing_times": np.array(times.T, dtype=np.int32, order="C"),
        "total_ops": int(n_jobs * n_machines),
    }


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_instance(path).times)
