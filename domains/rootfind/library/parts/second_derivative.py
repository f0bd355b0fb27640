"""Steps by f, f' and f'' at one point; methods differ in the fraction they go back by."""

import numpy as np
from parts.history import bounded, note
from parts.steps import secant_move
from parts.taker import fraction


def curved_step(env_data, state, first):
    """Evaluate f, f' and f'' at x, and go to where the method says; several variables take a secant step, of
    length `first` at the start."""
    data = state.metadata
    if env_data["dimension"] > 1:
        secant_move(env_data, state, first)
        return
    y, slope, bend = env_data["f_derivatives"](data["x"], 2)
    note(state, data["x"], [y])
    data["fx"] = np.array([y])
    if abs(y) <= env_data["tolerance"]:
        return
    above, below = fraction(y, slope, bend)
    step = -above / below if below != 0.0 else first * env_data["radius"]
    data["x"] = bounded(data["x"], np.array([step]), env_data["radius"])
