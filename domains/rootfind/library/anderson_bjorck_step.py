"""Regula falsi, the variant of Anderson and Björck."""

import numpy as np
from parts.history import visit
from parts.steps import bracket_of, secant_move

FIRST = 0.1  # tunable: float 0.001..0.5


def weight(f_new, f_old, f_kept):
    """Return the factor of the value at an end that was kept twice."""
    return max(1.0 - f_new / f_old, 0.0) or 0.5 if f_old != 0.0 else 0.5


def run(env_data, state, calc_makespan_fn):
    """Go to the zero of the line through the ends of the interval, the value of a kept end scaled down."""
    data = state.metadata
    found = bracket_of(data) if env_data["dimension"] == 1 else None
    if found is None:
        secant_move(env_data, state, FIRST)
        return state
    a, fa, b, fb = found
    if data.get("kept", np.nan) == a:
        fa *= weight(data["values"][-1, 0], data["values"][-2, 0], fa)
    elif data.get("kept", np.nan) == b:
        fb *= weight(data["values"][-1, 0], data["values"][-2, 0], fb)
    _new, value = visit(env_data, state, (a * fb - b * fa) / (fb - fa))
    data["kept"] = b if value[0] * found[1] > 0.0 else a
    return state
