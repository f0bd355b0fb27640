"""Ends without an evaluation where a model foretold the newest point, and takes that model's zero."""

import numpy as np
from parts.models import foretold, model_zero

COUNT = 8  # tunable: int 3..16
ERROR = 1e-10  # tunable: float 0.000000000001..0.0001


def run(env_data, state, calc_makespan_fn):
    """Take the zero of the model through the last points as the answer if the others told the newest
    value."""
    data = state.metadata
    points, values = data["points"][-COUNT:], data["values"][-COUNT:]
    others = (points != points[-1]).any(axis=1)
    if others.sum() < 2 * env_data["dimension"] + 1:
        return state
    wrong = np.abs(foretold(points[others], values[others], points[-1]) - values[-1]).max()
    if not wrong <= ERROR * np.abs(values).max():
        return state
    zero = model_zero(points, values, data["x"])
    if zero is not None and np.abs(zero - env_data["x0"]).max() < 4.0 * env_data["radius"]:
        data["x"], data["done"] = zero, True
    return state
