"""Reader of the published open-shop format.

Comment lines start with ``#``; the first data line is ``jobs machines``; then follows one line per job with
its processing time on each machine (column = machine).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.ossp.card import INVALID_SCORE
from dga2d.domains.shared.integer_lines import read_text
from dga2d.domains.shared.shops.files import ProcessingTimes, job_lines

SUFFIXES = ("", ".txt")
"""Names an instance file may end in."""


def read_instance(path: Path) -> ProcessingTimes:
    """Read one file of the format.

    Raises
    ------
    InstanceFormatError
        The file is missing, is not text, holds something else than integers, has wrong counts, is
        truncated, has a negative time or goes on after the last job.
    """
    return parse_instance(read_text(path), path)


def parse_instance(text: str, path: Path | str) -> ProcessingTimes:
    """Parse the text of a file; `path` names it in errors. See :func:`read_instance`."""
    n_machines, lines = job_lines(text, path)
    for line, values in lines:
        if len(values) != n_machines:
            raise InstanceFormatError(path, line, f"expected {n_machines} numbers, got {len(values)}")
        if min(values) < 0:
            raise InstanceFormatError(path, line, f"negative time {min(values)}")
    if sum(sum(values) for _, values in lines) >= INVALID_SCORE:
        raise InstanceFormatError(path, None, f"times add up to {INVALID_SCORE} or more")
    return ProcessingTimes(np.array([values for _, values in lines], dtype=np.int32))


def operator_environment(times: NDArray[np.int32]) -> dict[str, Any]:
    """Return the card's keys for `times`, int32 `(jobs, machines)`; fresh, writable copies."""
    n_jobs, n_machines = times.shape
    of_jobs = times.sum(axis=1, dtype=np.int64)
    on_machines = times.sum(axis=0, dtype=np.int64)
    return {
        "num_jobs": int(n_jobs),
        "num_machines": int(n_machines),
        "total_ops": int(n_jobs * n_machines),
        "ossp_times": np.array(times, dtype=np.int32),
        "upper_bound": int((of_jobs[:, None] + on_machines - times).max()),
        "lower_bound": int(max(of_jobs.max(), on_machines.max())),
    }


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_instance(path).times)
