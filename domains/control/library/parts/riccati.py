"""Linear-quadratic regulators of the plant around a point."""

import numpy as np
from parts.models import error_of, linearised, model_number


def doubled(a, b, weight, state_weight=1.0):
    """Return the solution P of the discrete Riccati equation with Q = I and R = `weight`, by doubling.

    Source: Anderson, "Second-order convergent algorithms for the steady-state Riccati equation" (1978).
    """
    n = len(b)
    g = np.outer(b, b) / weight
    p = state_weight * np.eye(n)
    for _ in range(60):
        w = np.linalg.solve(np.eye(n) + g @ p, np.hstack((a, g)))
        step = a.T @ p @ w[:, :n]
        g = g + a @ w[:, n:] @ a.T
        a = a @ w[:, :n]
        p = p + step
        if not np.isfinite(p).all():
            return None
        if np.abs(step).max() <= 1e-13 * np.abs(p).max():
            return 0.5 * (p + p.T)
    return None


def regulator(env_data, parameters, point, weight):
    """Return the gain K, `(n,)`, of u = -K e around a point, and P; zeros where there is none."""
    n = env_data["dimension"]
    a, b = linearised(model_number(env_data), parameters, point * 1.0, 0.0, env_data["dt"])
    p = doubled(a, b, weight)
    if p is None:
        return np.zeros(n), np.eye(n)
    return (b @ p @ a) / (weight + b @ p @ b), p


def regulator_at_target(env_data, data, weight):
    """Return K and P at the target for the believed parameters, computed anew when these change."""
    key = (data["parameters"].tobytes(), weight)
    if data.get("regulator_key") != key:
        data["regulator_key"] = key
        data["regulator"] = regulator(env_data, data["parameters"], env_data["target"], weight)
    return data["regulator"]


def hand_over(env_data, data, weight, hold):
    """Leave the next `hold` steps to the regulator, which needs no look at the plant in between."""
    gain = regulator_at_target(env_data, data, weight)[0]
    data["u"], data["gain"], data["hold"] = 0.0, gain.copy(), hold


def regulated(env_data, data, weight):
    """Return the regulator's input for the measured state, and what it expects the rest to cost."""
    gain, p = regulator_at_target(env_data, data, weight)
    error = error_of(env_data, data["x"])
    return -float(gain @ error), float(error @ p @ error)
