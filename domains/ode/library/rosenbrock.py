"""The Rosenbrock method RODAS3.

Method: four linear systems with one matrix instead of Newton's method; order 3 with an estimate of order 2,
stiffly accurate. The Jacobian is that of each step.
Source: A. Sandu et al., "Benchmarking stiff ODE solvers for atmospheric chemistry problems II: Rosenbrock
solvers" (1997).
Complexity: O(n^3) per step. Evaluations: 3 + n per step.
"""

import numpy as np
from parts.implicit import jacobian
from parts.steps import begin, propose, slope


def run(env_data, state, calc_makespan_fn):
    work, rhs = state.metadata, env_data["rhs"]
    h = begin(work, is_implicit=True)
    if h == 0.0:
        return state
    t, y, f = work["t"], work["y"], slope(work, rhs)
    if work.get("jac_t", -1.0) != t:
        work.pop("jac", None)
    inverse = np.linalg.inv(np.eye(y.size) * (2.0 / h) - jacobian(env_data, work))
    rate = 0.0 if env_data["autonomous"] else (rhs(t + 1e-7 * h, y) - f) / (1e-7 * h)
    k1 = inverse @ (f + 0.5 * h * rate)
    k2 = inverse @ (f + 4.0 / h * k1 + 1.5 * h * rate)
    k3 = inverse @ (rhs(t + h, y + 2.0 * k1) + (k1 - k2) / h)
    k4 = inverse @ (rhs(t + h, y + 2.0 * k1 + k3) + (k1 - k2 - 8.0 / 3.0 * k3) / h)
    propose(work, 2.0 * k1 + k3 + k4, h, k4, 2)
    return state
