"""Keeps an integrator from growing while the input is at its bound.

Method: back-calculation; what the bound cuts off the input is taken back from the integral.
Source: K. J. Åström, L. Rundqwist, "Integrator windup and how to avoid it" (1989).
Complexity: O(1) per step.
"""

from parts.models import output_of

BACK = 0.5  # tunable: float 0.01..10.0


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    u, bound = float(data["u"]), env_data["bound"]
    cut = u - min(max(u, -bound), bound)
    if cut != 0.0 and "integral" in data:
        sign = 1.0 if output_of(env_data, data)[2] > 0.0 else -1.0
        data["integral"] += BACK * sign * cut * env_data["dt"]
        data["u"] = u - cut
    return state
