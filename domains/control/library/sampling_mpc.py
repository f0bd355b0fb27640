"""Model predictive path integral control: random changes of the planned inputs, averaged by what they cost.

Method: rollouts of the believed plant with the regulator's cost-to-go at their end; weights fall
exponentially with the cost. Near the target the regulator takes over.
Source: G. Williams, A. Aldrich, E. Theodorou, "Model predictive path integral control" (2017).
Complexity: O(SAMPLES HORIZON n²) per step.
"""

import numpy as np
from numba import njit
from parts.models import model_number, stepped
from parts.riccati import hand_over, regulated, regulator_at_target
from parts.wrapping import error_at

SAMPLES = 32  # tunable: int 8..200
HOLD = 10  # tunable: int 1..100
HORIZON = 60  # tunable: int 10..200
SPREAD = 0.4  # tunable: float 0.02..1.0
HEAT = 10.0  # tunable: float 0.1..1000.0
NEAR = 5.0  # tunable: float 0.001..100.0
HELD = 5  # tunable: int 1..30


@njit(cache=True)
def costs_of(model, p, x, inputs, dt, weight, target, is_angle, final):
    """Return what each row of inputs costs."""
    found, e = np.zeros(len(inputs)), np.empty(x.size)
    for k in range(len(inputs)):
        y = x.copy()
        for u in inputs[k]:
            error_at(y, target, is_angle, e)
            found[k] += e @ e + weight * u * u
            y = stepped(model, p, y, u, dt)
        error_at(y, target, is_angle, e)
        found[k] += e @ (final @ e)
        if not found[k] < 1e15:
            found[k] = 1e15
    return found


def run(env_data, state, calc_makespan_fn):
    data, bound, n = state.metadata, env_data["bound"], env_data["dimension"]
    weight = env_data["input_weight"]
    data.pop("gain", None)
    _, ahead = regulated(env_data, data, weight)
    if ahead < NEAR:
        hand_over(env_data, data, env_data["input_weight"], HOLD)
        return state
    final = regulator_at_target(env_data, data, weight)[1]
    is_angle = np.zeros(n, np.bool_)
    is_angle[env_data["angles"]] = True
    us = np.append(data["guess"][1:], 0.0) if "guess" in data else np.zeros(HORIZON)
    noise = env_data["rng"].standard_normal((SAMPLES, HORIZON // HELD + 1)).repeat(HELD, axis=1)
    inputs = np.clip(us + SPREAD * bound * noise[:, :HORIZON], -bound, bound)
    inputs[0] = us
    costs = costs_of(
        model_number(env_data), data["parameters"], data["x"] * 1.0, inputs, env_data["dt"], weight,
        env_data["target"] * 1.0, is_angle, final,
    )  # fmt: skip
    weights = np.exp(-(costs - costs.min()) / HEAT)
    us = weights @ inputs / weights.sum()
    data["guess"], data["u"] = us, float(us[0])
    return state
