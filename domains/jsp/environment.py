"""What operators see of an instance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def operator_environment(machines: NDArray[np.int32], times: NDArray[np.int32]) -> dict[str, Any]:
    """The card's keys for `machines` and `times`, int32 `(jobs, machines)`; fresh, writable copies."""
    n_jobs, n_machines = machines.shape
    return {
        "num_jobs": int(n_jobs),
        "num_machines": int(n_machines),
        "machines_matrix": np.array(machines, dtype=np.int32),
        "times_matrix": np.array(times, dtype=np.int32),
        "total_ops": int(n_jobs * n_machines),
    }
