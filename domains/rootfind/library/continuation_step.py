"""Continuation: f(x) = (1 - λ) f(x0), followed from λ = 0 to 1 by Broyden's method."""

import numpy as np
from parts.history import bounded, visit

PIECES = 2  # tunable: int 1..8
FIRST = 0.02  # tunable: float 0.0001..0.5


def run(env_data, state, calc_makespan_fn):
    """Solve the linear model for the next λ, and correct its matrix by what f did."""
    data, n = state.metadata, env_data["dimension"]
    if "jacobian" not in data:
        h = FIRST * env_data["radius"]
        data["jacobian"] = ((env_data["f_many"](data["x"] + h * np.eye(n)) - data["fx"]) / h).T
    if "path" not in data:
        data["path"], data["target"], data["number"] = (
            np.vstack([data["x"], data["fx"]]),
            data["fx"].copy(),
            0,
        )
    x, fx = data["path"]
    data["number"] += 1
    goal = data["target"] * max(1.0 - data["number"] / PIECES, 0.0)
    step = np.linalg.lstsq(data["jacobian"], goal - fx, rcond=None)[0]
    new, value = visit(env_data, state, bounded(x, step, env_data["radius"]))
    moved = new - x
    if moved @ moved > 0.0:
        wrong = value - fx - data["jacobian"] @ moved
        data["jacobian"] = data["jacobian"] + np.outer(wrong, moved) / (moved @ moved)
    data["path"] = np.vstack([new, value])
    return state
