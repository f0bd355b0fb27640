"""What operators see of an instance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.maxcut.graph import csr_of


def operator_environment(
    n_vertices: int, edges: NDArray[np.int32], weights: NDArray[np.int32]
) -> dict[str, Any]:
    """The card's keys for a graph; fresh, writable arrays."""
    csr = csr_of(n_vertices, edges, weights)
    return {
        "num_nodes": int(n_vertices),
        "num_edges": len(weights),
        "neighbors": csr.neighbours,
        "edge_weights": csr.weights,
        "offsets": csr.offsets,
    }
