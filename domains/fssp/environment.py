"""What operators see of an instance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def operator_environment(times: NDArray[np.int32]) -> dict[str, Any]:
    """The card's keys for `times`, int32 `(jobs, machines)`; fresh, writable copies."""
    n_jobs, n_machines = times.shape
    return {
        "num_jobs": int(n_jobs),
        "num_machines": int(n_machines),
        "processing_times": np.array(times.T, dtype=np.int32, order="C"),
        "total_ops": int(n_jobs * n_machines),
    }
