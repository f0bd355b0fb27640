"""Steps that several operators fall back on, and what they need of the history."""

import numpy as np
from parts.history import bounded, visit


def secant_move(env_data, state, first):
    """Evaluate at the zero of the affine map through the last n + 1 points; points are made where there are
    fewer."""
    data, n, radius = state.metadata, env_data["dimension"], env_data["radius"]
    points, values = data["points"], data["values"]
    if len(points) <= n:
        step = np.zeros(n)
        step[(len(points) - 1) % n] = first * radius
        visit(env_data, state, points[0] + step)
        return
    x, fx = points[-1], values[-1]
    moves, changes = (points[-n - 1 : -1] - x).T, (values[-n - 1 : -1] - fx).T
    weights = np.linalg.lstsq(changes, -fx, rcond=None)[0]
    visit(env_data, state, bounded(x, moves @ weights, radius))


def bracket_of(data):
    """Return (a, f(a), b, f(b)): the nearest points with values of opposite sign, a < b; None where there are
    none."""
    points, values = data["points"][:, 0], data["values"][:, 0]
    order = np.argsort(points, kind="stable")
    x, y = points[order], values[order]
    best = None
    for k in range(len(x) - 1):
        if y[k] * y[k + 1] < 0.0 and (best is None or x[k + 1] - x[k] < best[2] - best[0]):
            best = (float(x[k]), float(y[k]), float(x[k + 1]), float(y[k + 1]))
    return best


def last_distinct(data, count):
    """Return the last `count` points of one variable with distinct values, newest first, and their values."""
    xs, ys = [], []
    for x, y in zip(data["points"][::-1, 0].tolist(), data["values"][::-1, 0].tolist(), strict=True):
        if len(xs) < count and x not in xs and y not in ys:
            xs.append(x)
            ys.append(y)
    return xs, ys


def inverse_parabola(a, fa, b, fb, c, fc):
    """Return the value at f = 0 of the parabola x(f) through three points with distinct values."""
    x = a * fb * fc / ((fa - fb) * (fa - fc)) + b * fa * fc / ((fb - fa) * (fb - fc))
    return x + c * fa * fb / ((fc - fa) * (fc - fb))
