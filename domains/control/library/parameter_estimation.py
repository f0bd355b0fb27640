"""Estimates the plant's parameters from what its last steps did.

Method: Gauss-Newton on the errors of one-step predictions, damped towards the nominal values.
Source: L. Ljung, "System identification" (1999), section 10.2; K. J. Åström, B. Wittenmark, "Adaptive
control" (1995), chapter 2.
Complexity: O(window p²) per step until it has converged.
"""

import numpy as np
from parts.models import error_of, model_number, stepped

WINDOW = 6  # tunable: int 2..60
DAMPING = 1e-9  # tunable: float 0.000000000001..0.001
UNTIL = 25  # tunable: int 5..400
FREE = 0.3  # tunable: float 0.2..1.0


def misses(model, p, moves, dt, env_data):
    """Return how far off the one-step predictions are, in units of what a step changes."""
    return np.concatenate(
        [error_of(env_data, stepped(model, p, x, u, dt) - y + env_data["target"]) for x, u, y in moves]
    )


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    model, t = model_number(env_data), data["t"]
    if t == 0 or t > UNTIL or model == 0:
        return state
    moves = data.setdefault("moves", [])
    moves.append((data["x_last"].copy(), data["u_last"], data["x"].copy()))
    del moves[:-WINDOW]
    nominal, p = env_data["parameters"], data["parameters"].copy()
    places = np.arange(nominal.size - 1)  # the last one is gravity
    for _ in range(4):
        wrong = misses(model, p, moves, env_data["dt"], env_data)
        slopes = np.empty((wrong.size, places.size))
        for place in places:
            moved = p.copy()
            moved[place] *= 1.0 + 1e-5
            slopes[:, place] = (misses(model, moved, moves, env_data["dt"], env_data) - wrong) / 1e-5
        left = slopes.T @ slopes + DAMPING * np.eye(places.size)
        change = np.linalg.solve(left, -slopes.T @ wrong + DAMPING * (nominal / p - 1.0)[places])
        p[places] *= 1.0 + np.clip(change, -0.2, 0.2)
        p[places] = np.clip(p[places], (1.0 - FREE) * nominal[places], (1.0 + FREE) * nominal[places])
        if np.abs(change).max() < 1e-9:
            break
    if np.abs(p / data["parameters"] - 1.0).max() > 1e-4:
        data["parameters"] = p
    return state
