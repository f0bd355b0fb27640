"""What operators see of an instance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def operator_environment(
    n_machines: int, op_counts: NDArray[np.int32], machines: NDArray[np.int32], times: NDArray[np.int32]
) -> dict[str, Any]:
    """The card's keys for the arrays of a :class:`~dga2d.domains.fjsp.reader.FlexibleShopData`; copies."""
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
    """Times by machine id, float64 `(jobs, max_ops, n_machines)`, inf where a machine is not eligible."""
    table = np.full((*machines.shape[:2], n_machines), np.inf)
    job, operation, entry = np.nonzero(machines >= 0)
    table[job, operation, machines[job, operation, entry]] = times[job, operation, entry]
    return table
