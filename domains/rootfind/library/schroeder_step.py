"""Newton's method on f / f', which has simple roots: Schröder's correction for multiple ones."""

import numpy as np
from parts.history import bounded, note
from parts.steps import secant_move

FIRST = 0.02  # tunable: float 0.001..0.5


def run(env_data, state, calc_makespan_fn):
    """Evaluate f, f' and f'' at x and go f f' / (f'² - f f'') back; several variables take a secant step."""
    data = state.metadata
    if env_data["dimension"] > 1:
        secant_move(env_data, state, FIRST)
        return state
    y, slope, bend = env_data["f_derivatives"](data["x"], 2)
    note(state, data["x"], [y])
    data["fx"] = np.array([y])
    if abs(y) <= env_data["tolerance"]:
        return state
    below = slope * slope - y * bend
    step = -y * slope / below if below != 0.0 else FIRST * env_data["radius"]
    data["x"] = bounded(data["x"], np.array([step]), env_data["radius"])
    return state
