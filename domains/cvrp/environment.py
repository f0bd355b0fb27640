"""What operators see of an instance."""

from __future__ import annotations

from typing import Any

import numpy as np

from dga2d.domains.cvrp.distances import planar_matrix
from dga2d.domains.cvrp.reader import RoutingData


def operator_environment(data: RoutingData) -> dict[str, Any]:
    """The card's keys for `data`; fresh, writable arrays."""
    if data.weights is not None:
        distances = data.weights.astype(np.int32)
    else:
        assert data.coords is not None
        distances = planar_matrix(data.coords, data.edge_type)
    return {
        "dist_matrix": distances,
        "demands": np.array(data.demands, dtype=np.int64),
        "capacity": int(data.capacity),
        "num_nodes": len(data.demands),
        "depot_idx": 0,
    }
