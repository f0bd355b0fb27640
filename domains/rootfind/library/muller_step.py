"""Muller's method: the parabola through the last three points."""

import numpy as np
from parts.history import bounded, visit
from parts.models import polynomial_zero
from parts.steps import last_distinct, secant_move

FIRST = 0.1  # tunable: float 0.001..0.5


def run(env_data, state, calc_makespan_fn):
    """Go to the zero of the parabola that is nearest to the last point, its real part where it is complex."""
    xs, ys = last_distinct(state.metadata, 3)
    if env_data["dimension"] > 1 or len(xs) < 3:
        secant_move(env_data, state, FIRST)
        return state
    zero = polynomial_zero(np.array(xs), np.array(ys), xs[0])
    visit(env_data, state, bounded(np.array([xs[0]]), np.array([zero - xs[0]]), env_data["radius"]))
    return state
