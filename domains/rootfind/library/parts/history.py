"""What all steps share: the points that were evaluated, and the best of them."""

import numpy as np


def note(state, x, fx):
    """Keep a point and its value in the state's history and make it the present one if it is the better
    one."""
    data = state.metadata
    x, fx = np.array(x, dtype=np.float64).reshape(-1), np.array(fx, dtype=np.float64).reshape(-1)
    if not np.isfinite(fx).all():
        return False
    points, values = data.get("points"), data.get("values")
    first = points is None
    data["points"] = x[None].copy() if first else np.vstack([points, x])
    data["values"] = fx[None].copy() if first else np.vstack([values, fx])
    better = first or np.abs(fx).max() <= np.abs(data["fx"]).max()
    if better:
        data["x"], data["fx"] = x.copy(), fx.copy()
    return bool(better)


def begin(state, points, values):
    """Start the history with points and their values; one that is nowhere finite starts with a huge one."""
    n = points.shape[1]
    state.metadata["x"], state.metadata["fx"] = points[0].copy(), np.full(n, 1e300)
    state.metadata["points"], state.metadata["values"] = np.empty((0, n)), np.empty((0, n))
    for x, fx in zip(points, values, strict=True):
        note(state, x, fx)
    if not len(state.metadata["points"]):
        note(state, points[0], state.metadata["fx"])


def visit(env_data, state, x):
    """Evaluate f at `x` and note it; where f is not finite, half way to the present point instead."""
    x = np.array(x, dtype=np.float64).reshape(-1)
    for _ in range(5):
        if np.isfinite(x).all():
            fx = env_data["f"](x)
            if np.isfinite(fx).all():
                note(state, x, fx)
                return x, fx
        x = 0.5 * (np.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0) + state.metadata["x"])
    return state.metadata["x"], state.metadata["fx"]


def bounded(x, step, radius):
    """Return the point `step` away from `x`, no farther than the diameter in which the root lies."""
    step = np.where(np.isfinite(step), step, 0.0)
    length = np.abs(step).max()
    return x + step * min(1.0, 2.0 * radius / length) if length > 0.0 else x + 1e-3 * radius
