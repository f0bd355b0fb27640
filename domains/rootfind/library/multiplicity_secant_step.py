"""The secant method on the m-th root of f, with the m for which the last three points are nearest to a
line."""

import numpy as np
from parts.history import bounded, visit
from parts.steps import last_distinct, secant_move

FIRST = 0.1  # tunable: float 0.001..0.5
HIGHEST = 6  # tunable: int 2..12


def run(env_data, state, calc_makespan_fn):
    """Go to the zero of the line through the last points of sign(f) |f|^(1/m)."""
    data = state.metadata
    xs, ys = last_distinct(data, 3)
    if env_data["dimension"] > 1 or len(xs) < 3:
        secant_move(env_data, state, FIRST)
        return state
    best = None
    for m in range(1, HIGHEST + 1):
        for odd in (True, False):
            g = [abs(y) ** (1.0 / m) * (np.sign(y) if odd else 1.0) for y in ys]
            if g[0] == g[1] or g[1] == g[2]:
                continue
            first, other = (xs[0] - xs[1]) / (g[0] - g[1]), (xs[1] - xs[2]) / (g[1] - g[2])
            if best is None or abs(first / other - 1.0) < best[0]:
                best = (abs(first / other - 1.0), -g[0] * first) if other != 0.0 else best
    if best is None:
        secant_move(env_data, state, FIRST)
    else:
        visit(env_data, state, bounded(np.array([xs[0]]), np.array([best[1]]), env_data["radius"]))
    return state
