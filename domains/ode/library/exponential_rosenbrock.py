"""The exponential Rosenbrock-Euler method.

Method: the equation linearised at (t, y) is solved exactly by the matrix function phi1; of order 2, and
without an error for linear systems of any stiffness, for which differences as wide as y itself are exact.
The error is that of the neglected part at the end of the step.
Source: M. Hochbruck, A. Ostermann, J. Schweitzer, "Exponential Rosenbrock-type methods" (2009).
Complexity: O(n^3) per step. Evaluations: 2 + n per Jacobian.
"""

import numpy as np
from parts.exponential import phi_times
from parts.implicit import jacobian
from parts.steps import begin, propose, slope


def run(env_data, state, calc_makespan_fn):
    work, rhs = state.metadata, env_data["rhs"]
    h = begin(work, is_implicit=True)
    if h == 0.0:
        return state
    t, y, f = work["t"], work["y"], slope(work, rhs)
    if "linear_part" not in work:
        width = 2.0 ** np.round(np.log2(max(float(np.max(np.abs(y))), 1e-12)))
        points = y + width * np.eye(y.size)
        wide = ((env_data["rhs_many"](t, points) - f) / width).T
        work["linear_part"] = (wide,)
    if work["linear_part"] is not None:
        jac = work["linear_part"][0]
    else:
        if work.get("jac_t", -1.0) != t:
            work.pop("jac", None)
        jac = jacobian(env_data, work)
    increment = phi_times(h * jac, h * f)
    work["f_new"] = rhs(t + h, y + increment)
    neglected = work["f_new"] - f - jac @ increment
    size = float(np.max(np.abs(jac) @ np.abs(increment))) + float(np.max(np.abs(f)))
    if work["linear_part"] is not None:
        if np.max(np.abs(neglected)) <= 1e-11 * size:
            propose(work, increment, h, np.zeros(y.size), 2)
            return state
        work["linear_part"] = None
        work.pop("f_new")
        return state
    propose(work, increment, h, phi_times(h * jac, h * neglected) / 3.0, 2)
    return state
