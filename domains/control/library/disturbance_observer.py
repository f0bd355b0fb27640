"""Estimates what acts on the plant like an input and takes it back from u.

Method: the difference between the measured state and the one that the believed plant foretells, projected on
what an input does, passes a first-order filter.
Source: K. Ohishi, M. Nakao, K. Ohnishi, K. Miyachi, "Microprocessor-controlled DC motor for load-insensitive
position servo system" (1987).
Complexity: O(n²) per step.
"""

from parts.models import error_of, linearised, model_number, stepped

GAIN = 0.3  # tunable: float 0.01..1.0
SHARE = 1.0  # tunable: float 0.1..1.0
MOST = 0.5  # tunable: float 0.05..1.0


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    model, p, dt = model_number(env_data), data["parameters"], env_data["dt"]
    if data["t"] > 0:
        before, believed = data["x_last"] * 1.0, data["u_last"] + data["disturbance"]
        _, b = linearised(model, p, before, believed, dt)
        missed = error_of(env_data, data["x"] - stepped(model, p, before, believed, dt) + env_data["target"])
        most = MOST * env_data["bound"]
        new = data["disturbance"] + GAIN * float(b @ missed) / max(float(b @ b), 1e-12)
        data["disturbance"] = min(max(new, -most), most)
    else:
        data["disturbance"] = 0.0
    data["u"] = data["u"] - SHARE * data["disturbance"]
    return state
