"""Steffensen's method: the secant through x and x + β f(x)."""

import numpy as np
from parts.history import bounded, visit
from parts.steps import secant_move

BETA = 0.1  # tunable: float 0.0001..1.0


def run(env_data, state, calc_makespan_fn):
    """Estimate the slope a step β f away and go to the zero of the line; several variables take a secant
    step."""
    data = state.metadata
    if env_data["dimension"] > 1:
        secant_move(env_data, state, BETA)
        return state
    x, y = data["x"], float(data["fx"][0])
    h = float(np.clip(BETA * y, -env_data["radius"], env_data["radius"]))
    _, value = visit(env_data, state, x + h)
    if value[0] != y and np.abs(value).max() > env_data["tolerance"]:
        visit(env_data, state, bounded(x, np.array([-y * h / (value[0] - y)]), env_data["radius"]))
    return state
