"""Inverse quadratic interpolation: x as a parabola of f."""

import numpy as np
from parts.history import bounded, visit
from parts.steps import inverse_parabola, last_distinct, secant_move

FIRST = 0.1  # tunable: float 0.001..0.5


def run(env_data, state, calc_makespan_fn):
    """Evaluate at the value for f = 0 of the parabola x(f) through the last three points."""
    xs, ys = last_distinct(state.metadata, 3)
    if env_data["dimension"] > 1 or len(xs) < 3:
        secant_move(env_data, state, FIRST)
        return state
    (a, b, c), (fa, fb, fc) = xs, ys
    x = inverse_parabola(a, fa, b, fb, c, fc)
    visit(env_data, state, bounded(np.array([a]), np.array([x - a]), env_data["radius"]))
    return state
