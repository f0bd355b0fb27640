"""Newton's method with a line search: the step is halved until the residual falls."""

import numpy as np
from parts.history import bounded, note

DECREASE = 1e-4  # tunable: float 0.000001..0.1
MOST = 8  # tunable: int 1..20


def run(env_data, state, calc_makespan_fn):
    """Solve the linear model at x, halve the step until the residual falls, and evaluate the Jacobian
    there."""
    data = state.metadata
    if "jacobian" not in data:
        data["jacobian"] = env_data["f_jacobian"](data["x"])[1]
    start, before = data["x"], np.linalg.norm(data["fx"])
    goal = bounded(start, np.linalg.lstsq(data["jacobian"], -data["fx"], rcond=None)[0], env_data["radius"])
    length = 1.0
    for _ in range(MOST):
        x = start + length * (goal - start)
        fx, jacobian = env_data["f_jacobian"](x)
        if np.isfinite(fx).all() and np.linalg.norm(fx) <= (1.0 - DECREASE * length) * before:
            break
        length *= 0.5
    if np.isfinite(fx).all() and np.isfinite(jacobian).all():
        note(state, x, fx)
        data["x"], data["fx"], data["jacobian"] = x, fx, jacobian
    return state
