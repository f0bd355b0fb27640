"""What is known of a plant: its equations, stepped and linearised with parameters that are believed in."""

import math

import numpy as np
from numba import njit


def model_number(env_data):
    """Return the number by which compiled code knows the model of a plant."""
    return {"linear": 0, "pendulum": 1, "cart_pole": 2}[env_data["model"]]


@njit(cache=True)
def rates(model, p, x, u, out):
    """Write the derivatives of the state to `out`."""
    n = x.size
    if model == 1:
        out[0] = x[1]
        out[1] = p[2] / p[1] * math.sin(x[0]) + u / (p[0] * p[1] * p[1])
    elif model == 2:
        c, s = math.cos(x[1]), math.sin(x[1])
        out[0], out[1] = x[2], x[3]
        out[2] = (u + p[1] * s * (p[2] * x[3] * x[3] - p[3] * c)) / (p[0] + p[1] * s * s)
        out[3] = (p[3] * s - out[2] * c) / p[2]
    else:
        for i in range(n):
            out[i] = p[n * n + i] * u
            for j in range(n):
                out[i] += p[i * n + j] * x[j]


@njit(cache=True)
def stepped(model, p, x, u, dt):
    """Return the state after `dt` with the input `u`, by the classical Runge-Kutta method."""
    n = x.size
    slope, total, y = np.empty(n), np.zeros(n), x.copy()
    for stage in range(4):
        rates(model, p, y, u, slope)
        weight = dt / 6.0 if stage == 0 or stage == 3 else dt / 3.0
        ahead = dt if stage == 2 else 0.5 * dt
        for i in range(n):
            total[i] += weight * slope[i]
            y[i] = x[i] + ahead * slope[i]
    for i in range(n):
        y[i] = x[i] + total[i]
    return y


@njit(cache=True)
def linearised(model, p, x, u, dt):
    """Return A and b of the step around (x, u), by central differences."""
    n = x.size
    a, b = np.empty((n, n)), np.empty(n)
    moved = x.copy()
    for j in range(n):
        h = 1e-5 * max(1.0, abs(x[j]))
        moved[j] = x[j] + h
        after = stepped(model, p, moved, u, dt)
        moved[j] = x[j] - h
        before = stepped(model, p, moved, u, dt)
        moved[j] = x[j]
        for i in range(n):
            a[i, j] = (after[i] - before[i]) / (2.0 * h)
    after = stepped(model, p, x, u + 1e-4, dt)
    before = stepped(model, p, x, u - 1e-4, dt)
    for i in range(n):
        b[i] = (after[i] - before[i]) / 2e-4
    return a, b


def error_of(env_data, x):
    """Return how far `x` is from the target, angles from -π to π."""
    error = x - env_data["target"]
    angles = env_data["angles"]
    if angles.size:
        error[angles] = (error[angles] + np.pi) % (2.0 * np.pi) - np.pi
    return error


def output_of(env_data, data):
    """Return the last coordinate's error and velocity, and how an input accelerates it at the target."""
    x, p = error_of(env_data, data["x"]), data["parameters"]
    n = x.size
    key = p.tobytes()
    if data.get("output_key") != key:
        slope = np.empty(n)
        rates(model_number(env_data), p, env_data["target"] * 1.0, 1.0, slope)
        still = np.empty(n)
        rates(model_number(env_data), p, env_data["target"] * 1.0, 0.0, still)
        push = float(slope[n - 1] - still[n - 1])
        data["output_push"] = push if abs(push) > 1e-9 else 1.0
        data["output_key"] = key
    place = max(n // 2 - 1, 0)
    return float(x[place]), float(x[n - 1]) if n > 1 else 0.0, data["output_push"]
