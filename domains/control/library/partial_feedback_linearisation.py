"""Cancels the plant's nonlinear terms, so that the last coordinate obeys a linear law.

Method: computed torque; where the coordinate has no input of its own (the pole), the cart's acceleration
that gives it the wanted one, with a lean that brings the cart back.
Source: M. W. Spong, "Partial feedback linearization of underactuated mechanical systems" (1994).
Complexity: O(n) per step.
"""

import math

import numpy as np
from parts.models import error_of, model_number, output_of, rates

KP = 16.0  # tunable: float 0.5..200.0
KD = 8.0  # tunable: float 0.5..50.0
LEAN = 0.05  # tunable: float 0.0..0.5
LEAN_SPEED = 0.1  # tunable: float 0.0..0.5
STEEP = 0.3  # tunable: float 0.05..0.9


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    error, speed, push = output_of(env_data, data)
    if env_data["model"] != "cart_pole":
        slope = np.empty(env_data["dimension"])
        rates(model_number(env_data), data["parameters"], data["x"] * 1.0, 0.0, slope)
        data["u"] = -(KP * error + KD * speed + float(slope[-1])) / push
        return state
    x = error_of(env_data, data["x"])
    cart, m, length, g = data["parameters"]
    c, s = math.cos(x[1]), math.sin(x[1])
    lean = min(max(-LEAN * x[0] - LEAN_SPEED * x[2], -0.3), 0.3)
    if abs(c) > STEEP:
        wanted = (g * s + length * (KP * (error - lean) + KD * speed)) / c
        data["u"] = float((cart + m * s * s) * wanted - m * s * (length * x[3] * x[3] - g * c))
    return state
