"""Edge lengths of TSPLIB's types as integer matrices."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

EdgeType = Literal["EUC_2D", "CEIL_2D", "EXPLICIT"]

TRIANGLES: Final = {
    "LOWER_ROW": (np.tril_indices, -1),
    "LOWER_DIAG_ROW": (np.tril_indices, 0),
    "UPPER_ROW": (np.triu_indices, 1),
    "UPPER_DIAG_ROW": (np.triu_indices, 0),
}
"""EDGE_WEIGHT_FORMAT → numpy's row-wise indices of the triangle it lists, and their first diagonal."""


def planar_matrix(coords: NDArray[np.float64], edge_type: EdgeType) -> NDArray[np.int32]:
    """Euclidean distances of `coords`, float64 `(n, 2)`, rounded to the nearest integer (EUC_2D) or up.

    Returns int32 `(n, n)`, symmetric, zero diagonal.

    References
    ----------
    G. Reinelt, "TSPLIB - A Traveling Salesman Problem Library", ORSA Journal on Computing 3, 1991.
    """
    x, y = coords[:, 0], coords[:, 1]
    dx, dy = x[:, None] - x[None, :], y[:, None] - y[None, :]
    exact = np.sqrt(dx * dx + dy * dy)
    rounded = np.ceil(exact) if edge_type == "CEIL_2D" else np.floor(exact + 0.5)
    return rounded.astype(np.int32)


def n_weights(edge_format: str, size: int) -> int:
    """How many numbers an EDGE_WEIGHT_SECTION of that format has for `size` nodes."""
    if edge_format == "FULL_MATRIX":
        return size * size
    indices, diagonal = TRIANGLES[edge_format]
    return len(indices(size, diagonal)[0])


def explicit_matrix(weights: NDArray[np.int64], edge_format: str, size: int) -> NDArray[np.int64]:
    """The full matrix of the numbers of an EDGE_WEIGHT_SECTION, row by row as TSPLIB defines the formats.

    `weights`: int64 `(n_weights(edge_format, size),)`. Returns int64 `(size, size)`; triangles are mirrored.
    """
    if edge_format == "FULL_MATRIX":
        return weights.reshape(size, size)
    indices, diagonal = TRIANGLES[edge_format]
    matrix = np.zeros((size, size), dtype=np.int64)
    matrix[indices(size, diagonal)] = weights
    return np.maximum(matrix, matrix.T)
