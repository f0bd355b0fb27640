"""Newton's method for implicit steps; Jacobians are differences of slopes, one evaluation a column."""

import numpy as np
from parts.steps import slope


def jacobian(env_data, work):
    """Return df/dy at (t, y), n evaluations; kept in ``jac`` until `renew` says that it is old."""
    if "jac" in work:
        return work["jac"][0]
    y, f = work["y"], slope(work, env_data["rhs"])
    typical = 1e-2 * float(np.max(np.abs(y))) + 1e-12
    steps = 2.0 ** np.round(np.log2(1.5e-8 * np.maximum(np.abs(y), typical)))
    points = y + np.diag(steps)
    slopes = env_data["rhs_many"](work["t"], points)
    work["jac"] = (((slopes - f) / (np.diag(points) - y)[:, None]).T,)
    work["jac_t"] = work["t"]
    return work["jac"][0]


def renew(work):
    """Forget the Jacobian, unless it is that of this very point; returns whether there is a new one to
    have."""
    if "jac" in work and work["jac_t"] != work["t"]:
        del work["jac"]
        return True
    return "jac" not in work


def times(matrix):
    """Return what multiplies by `matrix`."""
    return lambda vector: matrix @ vector


def solve(residual, correct, guess, scale, rounds=12, tolerance=1e-3):
    """Return x with residual(x) = 0, and how fast it was found: the rate of convergence, or infinity.

    `correct` multiplies by the inverse of about the derivative of `residual`. It ends where the next
    correction would be below `tolerance` times `scale`, or below rounding.
    """
    x, last, rate = guess.copy(), np.inf, 0.0
    for k in range(rounds):
        change = correct(residual(x))
        if not np.all(np.isfinite(change)):
            return x, np.inf
        x -= change
        size = float(np.sqrt(np.mean((change / scale) ** 2)))
        floor = 4.0 * float(np.sqrt(np.mean((np.spacing(np.abs(x)) / scale) ** 2)))
        if size <= floor:
            return x, rate
        if k > 0:
            rate = size / last
            if size <= 32.0 * floor and rate > 0.3:
                return x, 0.0
            if rate >= 1.0:
                return x, np.inf
            if size * rate / (1.0 - rate) <= tolerance:
                return x, rate
        last = size
    return x, np.inf


def shrink(work):
    """After Newton's method failed: a new Jacobian if there is one to have, and otherwise half the step."""
    if not renew(work):
        work["h"] *= 0.5
        if work["h"] < 1e-15 * work["end"]:
            work["failed"] = True
