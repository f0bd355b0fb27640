"""Regula falsi whose kept end counts less the second time; the variants differ in how much less."""

import numpy as np
from parts.history import visit
from parts.steps import bracket_of, secant_move
from parts.taker import weight


def interpolate(env_data, state, first):
    """Go to the zero of the line through the ends of the interval, the value of a kept end scaled down;
    before there is an interval, make a secant step, of length `first` at the start."""
    data = state.metadata
    found = bracket_of(data) if env_data["dimension"] == 1 else None
    if found is None:
        secant_move(env_data, state, first)
        return
    a, fa, b, fb = found
    if data.get("kept", np.nan) == a:
        fa *= weight(data["values"][-1, 0], data["values"][-2, 0], fa)
    elif data.get("kept", np.nan) == b:
        fb *= weight(data["values"][-1, 0], data["values"][-2, 0], fb)
    _new, value = visit(env_data, state, (a * fb - b * fa) / (fb - fa))
    data["kept"] = b if value[0] * found[1] > 0.0 else a
