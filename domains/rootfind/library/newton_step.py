"""Newton's method."""

import numpy as np
from parts.history import bounded, note


def run(env_data, state, calc_makespan_fn):
    """Solve the linear model at x and evaluate f and its Jacobian there."""
    data = state.metadata
    if "jacobian" not in data:
        data["jacobian"] = env_data["f_jacobian"](data["x"])[1]
    step = np.linalg.lstsq(data["jacobian"], -data["fx"], rcond=None)[0]
    x = bounded(data["x"], step, env_data["radius"])
    fx, jacobian = env_data["f_jacobian"](x)
    if np.isfinite(fx).all() and np.isfinite(jacobian).all():
        note(state, x, fx)
        data["x"], data["fx"], data["jacobian"] = x, fx, jacobian
    else:
        data["x"] = data["x"] + 0.5 * (x - data["x"])
    return state
