"""Writer of schedules.

The text starts with comment lines (``#``: the instance, the meaning of the rows), then a line
``jobs machines makespan``, then one line per job with the start times of its operations on machines
0, 1, …, m − 1: row by row the counterpart of the instance format.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def schedule_text(key: str, starts: NDArray[np.int64], makespan: int) -> str:
    """Text of a schedule; `starts` is int64 `(jobs, machines)`."""
    n_jobs, n_machines = starts.shape
    lines = [
        f"# instance {key}",
        "# jobs machines makespan, then per job its start times on machines 0, 1, ...",
        f"{n_jobs} {n_machines} {makespan}",
        *(" ".join(map(str, row)) for row in starts.tolist()),
    ]
    return "\n".join(lines) + "\n"
