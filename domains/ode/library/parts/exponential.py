"""Exponentials of small matrices."""

import numpy as np


def exponential(matrix):
    """Return exp(matrix) by its Taylor series of degree 18 and repeated squaring."""
    norm = float(np.max(np.sum(np.abs(matrix), axis=0)))
    if not np.isfinite(norm):
        return np.full(matrix.shape, np.nan)
    squarings = max(0, int(np.ceil(np.log2(max(norm, 1e-300)))) + 1)
    scaled = matrix / 2.0**squarings
    unit = np.eye(matrix.shape[0])
    result = unit.copy()
    for k in range(18, 0, -1):
        result = unit + scaled @ result / k
    for _ in range(squarings):
        result = result @ result
    return result


def phi_times(matrix, vector):
    """Return phi1(matrix) vector, phi1(z) = (exp(z) - 1)/z, out of the exponential of a matrix larger by
    one."""
    n = vector.size
    larger = np.zeros((n + 1, n + 1))
    larger[:n, :n] = matrix
    larger[:n, n] = vector
    return exponential(larger)[:n, n]
