"""What operators see of an instance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def operator_environment(adjacency: NDArray[np.uint8], name: str) -> dict[str, Any]:
    """The card's keys for `adjacency`, uint8 `(n, n)`; fresh, writable copies."""
    return {
        "num_vertices": len(adjacency),
        "total_vertices": len(adjacency),
        "adj": np.array(adjacency, dtype=np.uint8),
        "name": name,
    }
