"""Deflation: a secant step on f divided by its distance to where the iteration got stuck."""

import numpy as np
from parts.history import bounded, visit
from parts.steps import last_distinct, secant_move

FIRST = 0.1  # tunable: float 0.001..0.5
STUCK = 4  # tunable: int 2..12


def run(env_data, state, calc_makespan_fn):
    """Where the last points gained nothing, leave the best of them by a secant step on f / |x - best|."""
    data = state.metadata
    residuals = np.abs(data["values"]).max(axis=1)
    is_stuck = len(residuals) > STUCK and residuals[-STUCK:].min() > 0.5 * residuals[:-STUCK].min()
    xs, ys = last_distinct(data, 2) if env_data["dimension"] == 1 else ([], [])
    if not is_stuck or len(xs) < 2 or data["x"][0] in xs:
        secant_move(env_data, state, FIRST)
        return state
    g = [y / abs(x - data["x"][0]) for x, y in zip(xs, ys, strict=True)]
    step = -g[0] * (xs[0] - xs[1]) / (g[0] - g[1]) if g[0] != g[1] else FIRST * env_data["radius"]
    visit(env_data, state, bounded(np.array([xs[0]]), np.array([step]), env_data["radius"]))
    return state
