"""What operators see of an instance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.tsp.distances import euc_2d_matrix, nearest_neighbour_length


def operator_environment(coords: NDArray[np.float64]) -> dict[str, Any]:
    """The card's keys for `coords`, float64 `(n, 2)`; fresh, writable copies."""
    own = np.array(coords, dtype=np.float64)
    distances = euc_2d_matrix(own)
    return {
        "num_nodes": len(own),
        "coords": own,
        "distance_matrix": distances,
        "upper_bound": nearest_neighbour_length(distances),
    }
