"""Implicit Euler.

Method: the slope at the end of the step, by Newton's method; the error is half the change of the slope.
Source: C. Curtiss, J. Hirschfelder, "Integration of stiff equations" (1952).
Complexity: O(n^3) per step. Evaluations: 1 per round of Newton's method, n per Jacobian.
"""

import numpy as np
from parts.implicit import jacobian, shrink, solve, times
from parts.steps import begin, propose, slope

RELATIVE = 1e-8  # tunable: float 1e-12..1e-3


def run(env_data, state, calc_makespan_fn):
    work, rhs = state.metadata, env_data["rhs"]
    h = begin(work, is_implicit=True)
    if h == 0.0:
        return state
    t, y, f = work["t"], work["y"], slope(work, rhs)
    inverse = np.linalg.inv(np.eye(y.size) - h * jacobian(env_data, work))
    scale = RELATIVE * (np.abs(y) + 1e-3 * float(np.max(np.abs(y))) + 1e-12)

    def residual(z):
        return z - h * rhs(t + h, y + z)

    z, rate = solve(residual, times(inverse), np.zeros(y.size), scale)
    if not np.isfinite(rate):
        shrink(work)
        return state
    if rate > 0.1:
        work["jac_t"] = -1.0
    propose(work, z, h, 0.5 * (z - h * f), 1)
    return state
