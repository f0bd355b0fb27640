"""Linear-quadratic regulator with the largest gain that keeps the input within its bound.

Method: regulators for inputs that weigh ever more; the first one whose input is within the bound, else the
last.
Source: Z. Lin, A. Saberi, "Semi-global exponential stabilization of linear systems subject to input
saturation via linear feedbacks" (1993).
Complexity: O(GAINS n) per step.
"""

import numpy as np
from parts.models import error_of
from parts.riccati import regulator

GAINS = 6  # tunable: int 2..12
FACTOR = 3.0  # tunable: float 1.2..10.0
OVER = 1.0  # tunable: float 0.5..4.0


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    data.pop("gain", None)
    p = data["parameters"]
    if "ladder" not in data or (data["ladder_for"] != p).any():
        weights = [env_data["input_weight"] * FACTOR**k for k in range(GAINS)]
        data["ladder"] = np.array([regulator(env_data, p, env_data["target"], w)[0] for w in weights])
        data["ladder_for"] = p.copy()
    inputs = -data["ladder"] @ error_of(env_data, data["x"])
    within = np.abs(inputs) <= OVER * env_data["bound"]
    data["u"] = float(inputs[int(np.argmax(within)) if within.any() else -1])
    return state
