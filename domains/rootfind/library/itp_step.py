"""The ITP method: interpolate, truncate, project."""

import numpy as np
from parts.history import visit
from parts.steps import bracket_of, secant_move

FIRST = 0.1  # tunable: float 0.001..0.5
KAPPA = 0.1  # tunable: float 0.001..1.0


def run(env_data, state, calc_makespan_fn):
    """Move regula falsi's point towards the middle of the interval, and into the part that keeps bisection's
    bound."""
    data = state.metadata
    found = bracket_of(data) if env_data["dimension"] == 1 else None
    if found is None:
        secant_move(env_data, state, FIRST)
        return state
    a, fa, b, fb = found
    first = data.setdefault("itp_width", b - a)
    number = data["itp_number"] = data.get("itp_number", 0) + 1
    middle, falsi = 0.5 * (a + b), (a * fb - b * fa) / (fb - fa)
    side = np.sign(middle - falsi)
    truncation = KAPPA * (b - a) ** 2 / first
    x = falsi + side * truncation if truncation <= abs(middle - falsi) else middle
    reach = max(first * 0.5 ** min(number - 1, 60) - 0.5 * (b - a), 0.0)
    if abs(x - middle) > reach and number > 3:
        x = middle - side * reach
    visit(env_data, state, x)
    return state
