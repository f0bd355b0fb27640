"""Smooths the input and leaves it out where the plant rests.

Method: first-order low-pass between the last applied input and the wanted one; a dead zone around the target.
Source: K. J. Åström, T. Hägglund, "Advanced PID control" (2006), section 3.3.
Complexity: O(n) per step.
"""

import numpy as np
from parts.models import error_of

KEPT = 0.2  # tunable: float 0.0..0.95
DEAD = 0.0  # tunable: float 0.0..0.1


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    bound = env_data["bound"]
    wanted = min(max(float(data["u"]), -bound), bound)
    data["u"] = KEPT * data["u_last"] + (1.0 - KEPT) * wanted
    if np.abs(error_of(env_data, data["x"])).max() < DEAD:
        data["u"] = 0.0
    return state
