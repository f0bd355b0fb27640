"""Chandrupatla's method: inverse quadratic interpolation where it is monotonous, else bisection."""

from parts.history import visit
from parts.steps import bracket_of, inverse_parabola, last_distinct, secant_move

FIRST = 0.1  # tunable: float 0.001..0.5


def run(env_data, state, calc_makespan_fn):
    """Take the parabola x(f) through the ends and the last other point if Chandrupatla's test says it is
    safe."""
    data = state.metadata
    found = bracket_of(data) if env_data["dimension"] == 1 else None
    if found is None:
        secant_move(env_data, state, FIRST)
        return state
    a, fa, b, fb = found
    x = 0.5 * (a + b)
    others = [
        (p, q) for p, q in zip(*last_distinct(data, 5), strict=True) if p not in (a, b) and q not in (fa, fb)
    ]
    if others:
        c, fc = others[0]
        if abs(c - a) < abs(c - b):
            a, fa, b, fb = b, fb, a, fa
        xi, phi = (b - a) / (c - a), (fb - fa) / (fc - fa)
        if phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi:
            y = inverse_parabola(a, fa, b, fb, c, fc)
            x = y if min(a, b) < y < max(a, b) else x
    visit(env_data, state, x)
    return state
