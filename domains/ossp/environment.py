"""What operators see of an instance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def operator_environment(times: NDArray[np.int32]) -> dict[str, Any]:
    """The card's keys for `times`, int32 `(jobs, machines)`; fresh, writable copies."""
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
