"""Largest input either way, changed on a switching curve.

Method: the time-optimal law of a double integrator for the last coordinate; within DEAD of the target no
input.
Source: L. S. Pontryagin et al., "The mathematical theory of optimal processes" (1962), section 5.
Complexity: O(1) per step.
"""

from parts.models import output_of

SHARE = 1.0  # tunable: float 0.1..1.0
DEAD = 0.05  # tunable: float 0.0..0.5


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    data.pop("gain", None)
    error, speed, push = output_of(env_data, data)
    bound = SHARE * env_data["bound"]
    switch = error + speed * abs(speed) / (2.0 * bound * abs(push))
    side = bound if switch * push < 0.0 else -bound
    data["u"] = 0.0 if abs(error) + abs(speed) < DEAD else side
    return state
