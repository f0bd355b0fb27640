"""Model predictive control of the linearised plant with the bound of the input.

Method: the quadratic program over HORIZON inputs, the regulator's cost-to-go at its end, by an accelerated
projected gradient method that begins with the last solution.
Source: S. Richter, C. N. Jones, M. Morari, "Computational complexity certification for real-time MPC with
input constraints based on the fast gradient method" (2012).
Complexity: O(HORIZON²) per iteration.
"""

import numpy as np
from parts.models import error_of, linearised, model_number
from parts.riccati import hand_over, regulated, regulator_at_target

HOLD = 10  # tunable: int 1..100
HORIZON = 40  # tunable: int 5..150
ITERATIONS = 15  # tunable: int 1..100


def condensed(env_data, p, final):
    """Return the Hessian over inputs, the matrix from the error to the gradient, and the largest
    curvature."""
    n, weight = env_data["dimension"], env_data["input_weight"]
    a, b = linearised(model_number(env_data), p, env_data["target"] * 1.0, 0.0, env_data["dt"])
    free, forced = np.eye(n), np.zeros((n, HORIZON))
    hessian, mixed = weight * np.eye(HORIZON), np.zeros((HORIZON, n))
    for t in range(HORIZON):
        free, forced = a @ free, a @ forced
        forced[:, t] += b
        q = final if t == HORIZON - 1 else np.eye(n)
        hessian += forced.T @ q @ forced
        mixed += forced.T @ q @ free
    return hessian, mixed, float(np.linalg.eigvalsh(hessian)[-1])


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    data.pop("gain", None)
    bound, p = env_data["bound"], data["parameters"]
    u, _ = regulated(env_data, data, env_data["input_weight"])
    if abs(u) < 0.2 * bound:  # no bound is near
        hand_over(env_data, data, env_data["input_weight"], HOLD)
        return state
    if "program" not in data or (data["program_for"] != p).any():
        final = regulator_at_target(env_data, data, env_data["input_weight"])[1]
        data["program"], data["program_for"] = condensed(env_data, p, final), p.copy()
        data["inputs"] = np.zeros(HORIZON)
    hessian, mixed, largest = data["program"]
    linear = mixed @ error_of(env_data, data["x"])
    us = np.append(data["inputs"][1:], 0.0)
    ahead, momentum = us, 1.0
    for _ in range(ITERATIONS):
        new = np.clip(ahead - (hessian @ ahead + linear) / largest, -bound, bound)
        after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
        ahead, us, momentum = new + (momentum - 1.0) / after * (new - us), new, after
    data["inputs"], data["u"] = us, float(us[0])
    return state
