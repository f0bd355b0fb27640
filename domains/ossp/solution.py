"""Writer of schedules.

The text starts with comment lines (``#``: the instance, the meaning of the rows), then a line
``jobs machines makespan``, then one line per job with the start times of its operations by machine: row by
row the counterpart of the published instance format.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def schedule_text(key: str, starts: NDArray[np.int64], makespan: int) -> str:
    """Text of a schedule; `starts` is int64 `(jobs, machines)`, column = machine."""
    n_jobs, n_machines = starts.shape
    lines = [
        f"# instance {key}",
        "# jobs machines makespan, then per job the start time of its operation on each machine",
        f"{n_jobs} {n_machines} {makespan}",
        *(" ".join(map(str, row)) for row in starts.tolist()),
    ]
    return "\n".join(lines) + "\n"
