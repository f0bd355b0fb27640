"""Proportional, integral and derivative feedback of the last coordinate.

Method: u = -(KP e + KI ∫e dt + KD e') with the sign with which an input pushes that coordinate at the target.
Source: K. J. Åström, T. Hägglund, "Advanced PID control" (2006).
Complexity: O(1) per step.
"""

from parts.models import output_of

KP = 60.0  # tunable: float 0.5..500.0
KI = 0.2  # tunable: float 0.0..50.0
KD = 12.0  # tunable: float 0.1..100.0


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    data.pop("gain", None)
    error, speed, push = output_of(env_data, data)
    data["integral"] = data.get("integral", 0.0) + error * env_data["dt"]
    wanted = KP * error + KI * data["integral"] + KD * speed
    data["u"] = -wanted if push > 0.0 else wanted
    return state
