"""TSPLIB's EUC_2D distances as a matrix, and a quick tour length as upper bound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def euc_2d_matrix(coords: NDArray[np.float64]) -> NDArray[np.int64]:
    """Distances floor(sqrt(dx² + dy²) + 0.5) between all points: int64 `(n, n)`, symmetric, zero diagonal.

    References
    ----------
    G. Reinelt, "TSPLIB - A Traveling Salesman Problem Library", ORSA Journal on Computing 3, 1991.
    """
    x, y = coords[:, 0], coords[:, 1]
    dx = x[:, None] - x[None, :]
    dy = y[:, None] - y[None, :]
    return np.floor(np.sqrt(dx * dx + dy * dy) + 0.5).astype(np.int64)


def nearest_neighbour_length(distances: NDArray[np.int64]) -> int:
    """Length of the nearest-neighbour tour that starts in city 0; ties go to the lower index.

    `distances`: int64 `(n, n)`, n ≥ 1.
    """
    is_open = np.ones(len(distances), dtype=np.bool_)
    is_open[0] = False
    total, city = 0, 0
    far = np.iinfo(np.int64).max
    while is_open.any():
        nearest = int(np.argmin(np.where(is_open, distances[city], far)))
        total += int(distances[city, nearest])
        is_open[nearest] = False
        city = nearest
    return total + int(distances[city, 0])
