"""Implicit trapezoid.

Method: the mean of the slopes at both ends, by Newton's method; the error is the distance to the
extrapolation of the last two slopes (Milne's device).
Source: J. Crank, P. Nicolson, "A practical method for numerical evaluation of solutions of partial
differential equations of the heat-conduction type" (1947).
Complexity: O(n^3) per step. Evaluations: 1 per round of Newton's method, n per Jacobian.
"""

import numpy as np
from parts.implicit import jacobian, shrink, solve, times
from parts.steps import begin, propose, slope

RELATIVE = 1e-10  # tunable: float 1e-13..1e-3


def run(env_data, state, calc_makespan_fn):
    work, rhs = state.metadata, env_data["rhs"]
    h = begin(work, is_implicit=True)
    if h == 0.0:
        return state
    t, y, f = work["t"], work["y"], slope(work, rhs)
    inverse = np.linalg.inv(np.eye(y.size) - 0.5 * h * jacobian(env_data, work))
    scale = RELATIVE * (np.abs(y) + 1e-3 * float(np.max(np.abs(y))) + 1e-12)

    def residual(z):
        return z - 0.5 * h * (f + rhs(t + h, y + z))

    z, rate = solve(residual, times(inverse), h * f, scale)
    if not np.isfinite(rate):
        z, rate = solve(residual, times(inverse), np.zeros(y.size), scale)
    if not np.isfinite(rate):
        shrink(work)
        return state
    if rate > 0.1:
        work["jac_t"] = -1.0
    if "earlier" in work and work["earlier"][0] < t:
        before, old = work["earlier"]
        ratio = h / (t - before)
        predicted = h * (f + 0.5 * ratio * (f - old))
        propose(work, z, h, (z - predicted) / (3.0 * (1.0 + 1.0 / ratio)), 2)
    else:
        propose(work, z, h, 0.5 * (z - h * f), 1)
    work["earlier"] = (t, f.copy())
    return state
