"""Backward differentiation formulas of orders 1 to 5 for steps of any length.

Method: the derivative of the polynomial through the last states and the new one is the slope there, by
Newton's method; predictor and error from the polynomial through the old states. The order rises while that
lowers the error.
Source: C. Gear, "Numerical initial value problems in ordinary differential equations" (1971); L. Shampine, M.
Reichelt, "The Matlab ODE suite" (1997).
Complexity: O(n^3) per step. Evaluations: 1 per round of Newton's method, n per Jacobian.
"""

import numpy as np
from parts.implicit import jacobian, shrink, solve, times
from parts.steps import begin, propose, slope

RELATIVE = 1e-10  # tunable: float 1e-13..1e-3
HIGHEST = 5  # tunable: int 1..5


def derivative_weights(times, at):
    """Weights of values at `times` for the derivative at `at`, one of them or not (Fornberg's recursion)."""
    size = len(times)
    table = np.zeros((size, 2))
    table[0, 0] = 1.0
    c1, c4 = 1.0, times[0] - at
    for i in range(1, size):
        c2, c5, c4 = 1.0, c4, times[i] - at
        for j in range(i):
            c3 = times[i] - times[j]
            c2 *= c3
            if j == i - 1:
                table[i, 1] = c1 * (table[i - 1, 0] - c5 * table[i - 1, 1]) / c2
                table[i, 0] = -c1 * c5 * table[i - 1, 0] / c2
            table[j, 1] = (c4 * table[j, 1] - table[j, 0]) / c3
            table[j, 0] = c4 * table[j, 0] / c3
        c1 = c2
    return table


def run(env_data, state, calc_makespan_fn):
    work, rhs = state.metadata, env_data["rhs"]
    h = begin(work, is_implicit=True)
    if h == 0.0:
        return state
    t, y = work["t"], work["y"]
    history = [pair for pair in work.get("history", ()) if pair[0] < t]
    history = [*history[-HIGHEST:], (t, y.copy())]
    work["history"] = tuple(history)
    order = min(int(work.get("bdf_order", 1)), len(history), HIGHEST)
    recent = history[-order:]
    moments = np.array([pair[0] for pair in recent] + [t + h])
    values = np.array([pair[1] for pair in recent])
    weights = derivative_weights(moments, t + h)[:, 1]
    older = history[-order - 1 :]
    if len(older) > 1:
        early = derivative_weights(np.array([pair[0] for pair in older]), t + h)[:, 0]
        predicted = early @ np.array([pair[1] for pair in older]) - y
    else:
        predicted = h * slope(work, rhs)
    known = weights[:-1] @ values
    inverse = np.linalg.inv(np.eye(y.size) - jacobian(env_data, work) / weights[-1])
    scale = RELATIVE * (np.abs(y) + 1e-3 * float(np.max(np.abs(y))) + 1e-12)

    def residual(z):
        return z + y + (known - rhs(t + h, y + z)) / weights[-1]

    z, rate = solve(residual, times(inverse), predicted, scale)
    if not np.isfinite(rate):
        z, rate = solve(residual, times(inverse), np.zeros(y.size), scale)
    if not np.isfinite(rate):
        work["bdf_order"] = 1
        shrink(work)
        return state
    if rate > 0.1:
        work["jac_t"] = -1.0
    error = (z - predicted) / (order + 1.0) if len(older) > 1 else 0.5 * (z - predicted)
    propose(work, z, h, error, order)
    if len(history) > order:
        lower = np.array([pair[0] for pair in recent])
        guess = derivative_weights(lower, t + h)[:, 0] @ values - y
        smaller = np.linalg.norm(z - guess) / order > np.linalg.norm(error)
        work["bdf_order"] = min(order + 1, HIGHEST) if smaller else max(order - 1, 1)
    return state
