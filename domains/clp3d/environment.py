"""What operators see of an instance."""

from __future__ import annotations

from typing import Any

import numpy as np

from dga2d.domains.clp3d.reader import ContainerData


def operator_environment(data: ContainerData, name: str) -> dict[str, Any]:
    """The card's keys for an instance; fresh, writable arrays."""
    volumes = data.item_sizes.prod(axis=1, dtype=np.int64)
    fill = min(100.0, 100.0 * int(volumes.sum()) / int(data.bin_size.prod(dtype=np.int64)))
    return {
        "num_activities": len(data.item_sizes),
        "bin_size": np.array(data.bin_size, dtype=np.int32),
        "item_sizes": np.array(data.item_sizes, dtype=np.int32),
        "item_volumes": volumes,
        "orientation_allowed": np.array(data.orientation_allowed, dtype=np.int32),
        "fill_upper_bound": fill,
        "upper_bound": 100.0,
        "lower_bound": 100.0 - fill,
        "name": name,
    }
