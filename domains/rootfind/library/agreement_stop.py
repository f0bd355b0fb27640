"""Ends without an evaluation where a model foretold the newest point, and takes that model's zero."""

import numpy as np
from parts.models import model_zero, separable_model

COUNT = 8  # tunable: int 3..16
ERROR = 1e-10  # tunable: float 0.000000000001..0.0001


def foretold(points, values, x):
    """Return what the model through the points says of f at `x`; NaN where there is none."""
    if x.size > 1:
        model = separable_model(points, values, x)
        return np.full(x.size, np.nan) if model is None else model[0]
    places, which = np.unique(points[:, 0], return_index=True)
    scale = max(float(np.abs(places - x[0]).max()), 1e-300)
    return np.linalg.lstsq(np.vander((places - x[0]) / scale), values[which, 0], rcond=None)[0][-1:]


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
