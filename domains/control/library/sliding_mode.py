"""Sliding mode with a boundary layer on the last coordinate.

Method: s = e' + SLOPE e; the input that keeps s constant in the believed plant, and a push towards s = 0
that is linear within the layer.
Source: J.-J. E. Slotine, W. Li, "Applied nonlinear control" (1991), chapter 7.
Complexity: O(n) per step.
"""

import numpy as np
from parts.models import model_number, output_of, rates

SLOPE = 2.0  # tunable: float 0.1..20.0
REACH = 1.0  # tunable: float 0.05..2.0
LAYER = 1.0  # tunable: float 0.01..10.0
EQUIVALENT = 1.0  # tunable: float 0.0..1.0


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    data.pop("gain", None)
    error, speed, push = output_of(env_data, data)
    slope = np.empty(env_data["dimension"])
    rates(model_number(env_data), data["parameters"], data["x"] * 1.0, 0.0, slope)
    s = speed + SLOPE * error
    hold = -(float(slope[-1]) + SLOPE * speed) / push
    reach = REACH * env_data["bound"] * min(max(s / LAYER, -1.0), 1.0)
    data["u"] = EQUIVALENT * hold - (reach if push > 0.0 else -reach)
    return state
