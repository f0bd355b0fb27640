"""What operators see of an instance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def operator_environment(
    cycle_time: int, times: NDArray[np.int32], edges: NDArray[np.int32]
) -> dict[str, Any]:
    """The card's keys; fresh, writable copies of `times` `(n,)` and `edges` `(m, 2)`."""
    adjacency = np.zeros((len(times), len(times)), np.uint8)
    adjacency[edges[:, 0], edges[:, 1]] = 1
    total = int(times.sum(dtype=np.int64))
    return {
        "num_tasks": len(times),
        "cycle_time": int(cycle_time),
        "times": np.array(times, dtype=np.int32),
        "adj_matrix": adjacency,
        "edges": np.array(edges, dtype=np.int32),
        "upper_bound": -(-total // int(cycle_time)),
        "total_time": total,
    }
