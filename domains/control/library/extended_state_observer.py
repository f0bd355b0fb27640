"""Observes the last coordinate, its velocity and all that accelerates it besides the input, and cancels the
last.

Method: a linear observer of third order with all poles at -SPEED; its third state is the total disturbance.
Source: J. Han, "From PID to active disturbance rejection control" (2009); Z. Gao, "Scaling and
bandwidth-parameterization based controller tuning" (2003).
Complexity: O(1) per step.
"""

from parts.models import output_of

SPEED = 12.0  # tunable: float 2.0..25.0
SHARE = 0.5  # tunable: float 0.05..1.0


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    error, speed, push = output_of(env_data, data)
    if "observed" not in data or abs(error - data["observed"][0]) > 1.0:
        data["observed"] = (error, speed, 0.0)
    place, velocity, total = data["observed"]
    dt, missed = env_data["dt"], error - place
    data["observed"] = (
        place + dt * (velocity + 3.0 * SPEED * missed),
        velocity + dt * (total + push * data["u_last"] + 3.0 * SPEED**2 * missed),
        total + dt * SPEED**3 * missed,
    )
    data["u"] = data["u"] - SHARE * data["observed"][2] / push
    return state
