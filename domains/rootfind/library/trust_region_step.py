"""Powell's hybrid step: a dogleg between steepest descent and Newton within a region of trust."""

import numpy as np
from parts.history import visit

FIRST = 0.02  # tunable: float 0.0001..0.5
REGION = 1.0  # tunable: float 0.1..2.0


def dogleg(jacobian, fx, reach):
    """Return the step of least model residual on the path by the Cauchy point, of length at most `reach`."""
    newton = np.linalg.lstsq(jacobian, -fx, rcond=None)[0]
    if np.linalg.norm(newton) <= reach:
        return newton
    slope = jacobian.T @ fx
    across = jacobian @ slope
    if across @ across == 0.0:
        return newton * reach / np.linalg.norm(newton)
    cauchy = -slope * (slope @ slope) / (across @ across)
    length = np.linalg.norm(cauchy)
    if length >= reach:
        return cauchy * reach / length
    rest = newton - cauchy
    a, b, c = rest @ rest, cauchy @ rest, length * length - reach * reach
    return cauchy + rest * (-b + np.sqrt(max(b * b - a * c, 0.0))) / a


def run(env_data, state, calc_makespan_fn):
    """Take a dogleg step from the best point; update the matrix by Broyden's rule and the region by what was
    gained."""
    data, n, radius = state.metadata, env_data["dimension"], env_data["radius"]
    if "jacobian" not in data:
        h = FIRST * radius
        data["jacobian"] = ((env_data["f_many"](data["x"] + h * np.eye(n)) - data["fx"]) / h).T
    reach = data.get("region", REGION * radius)
    x, fx = data["x"].copy(), data["fx"].copy()
    step = dogleg(data["jacobian"], fx, reach)
    new, value = visit(env_data, state, x + step)
    moved = new - x
    promised = np.linalg.norm(fx) - np.linalg.norm(fx + data["jacobian"] @ moved)
    gained = np.linalg.norm(fx) - np.linalg.norm(value)
    data["region"] = float(min(2.0 * reach, 4.0 * radius) if gained > 0.5 * promised else 0.5 * reach)
    if moved @ moved > 0.0:
        wrong = value - fx - data["jacobian"] @ moved
        data["jacobian"] = data["jacobian"] + np.outer(wrong, moved) / (moved @ moved)
    return state
