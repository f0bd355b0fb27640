"""Broyden's method."""

import numpy as np
from parts.history import bounded, visit

FIRST = 0.02  # tunable: float 0.0001..0.5


def run(env_data, state, calc_makespan_fn):
    """Solve the linear model at the last point and correct its matrix by what f did; at first it is
    differenced."""
    data, n = state.metadata, env_data["dimension"]
    if "jacobian" not in data or "last" not in data:
        x, fx = data["x"], data["fx"]
        if "jacobian" not in data:
            h = FIRST * env_data["radius"]
            values = env_data["f_many"](x + h * np.eye(n))
            data["jacobian"] = ((values - fx) / h).T
        data["last"] = np.vstack([x, fx])
    x, fx = data["last"]
    goal = bounded(x, np.linalg.lstsq(data["jacobian"], -fx, rcond=None)[0], env_data["radius"])
    new, value = visit(env_data, state, goal)
    step = new - x
    if step @ step > 0.0:
        wrong = value - fx - data["jacobian"] @ step
        data["jacobian"] = data["jacobian"] + np.outer(wrong, step) / (step @ step)
    data["last"] = np.vstack([new, value])
    return state
