"""Linear-quadratic regulators for several angles, interpolated by the angle.

Method: the plant is linearised at each of them; between them gains are interpolated linearly.
Source: W. J. Rugh, J. S. Shamma, "Research on gain scheduling" (2000).
Complexity: O(n) per step, O(n³) for each angle when the parameters change.
"""

import numpy as np
from parts.models import error_of
from parts.riccati import regulator

ANGLES = 5  # tunable: int 2..12
LARGEST = 1.2  # tunable: float 0.2..3.0
WEIGHT = 1.0  # tunable: float 0.05..20.0


def schedule(env_data, parameters):
    """Return angles, the first one 0, and the gains at them; zeros where there is no regulator."""
    angles, gains = np.linspace(0.0, LARGEST, ANGLES), []
    for angle in angles:
        point = env_data["target"] * 1.0
        point[env_data["angles"]] += angle
        gain = regulator(env_data, parameters, point, WEIGHT * env_data["input_weight"])[0]
        gains.append(gain if gain.any() or not gains else gains[-1])
    return angles, np.array(gains)


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    data.pop("gain", None)
    if "schedule" not in data or (data["schedule_for"] != data["parameters"]).any():
        data["schedule"] = schedule(env_data, data["parameters"])
        data["schedule_for"] = data["parameters"].copy()
    angles, gains = data["schedule"]
    error = error_of(env_data, data["x"])
    where = float(np.abs(error[env_data["angles"]]).max()) if env_data["angles"].size else 0.0
    gain = np.array([np.interp(where, angles, column) for column in gains.T])
    data["u"] = -float(gain @ error)
    return state
