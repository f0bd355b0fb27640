"""Models of f through the points that were evaluated, and their zeros."""

import numpy as np


def polynomial_zero(x, y, centre):
    """Return the zero nearest to `centre` of the polynomial through points of one variable, its real part if
    complex."""
    scale = max(float(np.abs(x - centre).max()), 1e-300)
    coefficients = np.linalg.lstsq(np.vander((x - centre) / scale), y, rcond=None)[0]
    keep = np.flatnonzero(np.abs(coefficients) > 1e-13 * np.abs(coefficients).max())
    zeros = np.roots(coefficients[keep[0] :]) if keep.size else np.empty(0)
    if not zeros.size:
        return float(centre)
    return float(centre + scale * zeros[np.argmin(np.abs(zeros))].real)


def separable_model(points, values, x):
    """Return the quadratic maps without mixed terms that fit the points best, nearest ones most: constant,
    linear and square parts for steps from `x` in units of the scale; None where the points do not tell
    them."""
    n = x.size
    scale = max(float(np.abs(points - x).max()), 1e-300)
    t = (points - x) / scale
    weights = 1.0 / (1e-3 + np.abs(t).max(axis=1))[:, None]
    columns = np.hstack([np.ones((len(t), 1)), t, t * t])
    model, _, rank, _ = np.linalg.lstsq(columns * weights, values * weights, rcond=1e-9)
    return (model[0], model[1 : n + 1].T, model[n + 1 :].T, scale) if rank == 2 * n + 1 else None


def separable_zero(points, values, x):
    """Return the zero of that model near `x`, by Newton's method; None where there is none."""
    model = separable_model(points, values, x)
    if model is None:
        return None
    constant, linear, square, scale = model
    u = np.zeros(x.size)
    for _ in range(30):
        residual = constant + linear @ u + square @ (u * u)
        step = np.linalg.lstsq(linear + 2.0 * square * u, -residual, rcond=None)[0]
        u = u + step * min(1.0, 1.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < 1e-14 * max(1.0, float(np.abs(u).max())):
            return x + scale * u
    return None


def model_zero(points, values, x):
    """Return the zero of the model through the points, near `x`; None where there are too few."""
    if x.size > 1:
        return separable_zero(points, values, x) if len(points) > 2 * x.size else None
    places, which = np.unique(points[:, 0], return_index=True)
    return np.array([polynomial_zero(places, values[which, 0], x[0])]) if places.size > 1 else None
