"""A step in the manner of Brent and Dekker: interpolation within a bracket, bisection where it gains too
little."""

import numpy as np
from parts.history import visit
from parts.steps import bracket_of, inverse_parabola, last_distinct, secant_move

FIRST = 0.1  # tunable: float 0.001..0.5
MARGIN = 1e-6  # tunable: float 0.00000001..0.1


def run(env_data, state, calc_makespan_fn):
    """Interpolate inversely through the ends and the last other point; bisect when the interval shrank too
    little."""
    data = state.metadata
    found = bracket_of(data) if env_data["dimension"] == 1 else None
    if found is None:
        secant_move(env_data, state, FIRST)
        return state
    a, fa, b, fb = found
    width, before = b - a, data.get("width", np.inf)
    x = (a * fb - b * fa) / (fb - fa)
    others = [
        (p, q) for p, q in zip(*last_distinct(data, 5), strict=True) if p not in (a, b) and q not in (fa, fb)
    ]
    if others:
        c, fc = others[0]
        inverse = inverse_parabola(a, fa, b, fb, c, fc)
        x = inverse if a < inverse < b else x
    is_slow = data.get("slow", 0) >= 2
    data["slow"] = data.get("slow", 0) + 1 if width > 0.5 * before else 0
    if is_slow or not a + MARGIN * width < x < b - MARGIN * width:
        x = 0.5 * (a + b) if is_slow else min(max(x, a + MARGIN * width), b - MARGIN * width)
        data["slow"] = 0
    data["width"] = width
    visit(env_data, state, x)
    return state
