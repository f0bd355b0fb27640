"""Hands over to the linear-quadratic regulator near the target.

Method: hysteresis on the regulator's own cost-to-go e'Pe and on whether its input is within the bound.
Source: K. J. Åström, K. Furuta, "Swinging up a pendulum by energy control" (2000), section 5.
Complexity: O(n²) per step.
"""

from parts.riccati import hand_over, regulated

ENTER = 30.0  # tunable: float 0.1..1000.0
LEAVE = 2.0  # tunable: float 1.0..10.0
MARGIN = 1.0  # tunable: float 0.2..3.0
HOLD = 10  # tunable: int 1..100


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    u, ahead = regulated(env_data, data, env_data["input_weight"])
    caught = data.get("caught", False)
    if caught:
        caught = ahead <= LEAVE * ENTER
    else:
        caught = ahead <= ENTER and abs(u) <= MARGIN * env_data["bound"]
    data["caught"] = caught
    if caught:
        hand_over(env_data, data, env_data["input_weight"], HOLD)
    return state
