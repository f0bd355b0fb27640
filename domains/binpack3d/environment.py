"""What operators see of an instance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def operator_environment(bin_size: NDArray[np.int32], item_sizes: NDArray[np.int32]) -> dict[str, Any]:
    """The card's keys for a bin `(3,)` and items `(n, 3)`; fresh, writable arrays."""
    return {
        "num_activities": len(item_sizes),
        "bin_size": np.array(bin_size, dtype=np.int32),
        "item_sizes": np.array(item_sizes, dtype=np.int32),
        "item_volumes": item_sizes.prod(axis=1, dtype=np.int64),
        "upper_bound": len(item_sizes),
    }
