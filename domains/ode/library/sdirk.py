"""The singly diagonally implicit method SDIRK4 of Hairer and Wanner.

Method: five stages of order 4, one matrix for all of them, an embedded formula of order 3; L-stable.
Source: E. Hairer, G. Wanner, "Solving ordinary differential equations II" (1996), table IV.6.5.
Complexity: O(n^3) per step. Evaluations: 1 per stage and round of Newton's method, n per Jacobian.
"""

import numpy as np
from parts.implicit import jacobian, shrink, solve, times
from parts.steps import begin, propose

RELATIVE = 1e-11  # tunable: float 1e-14..1e-3
GAMMA = 0.25
NODES = (1 / 4, 3 / 4, 11 / 20, 1 / 2, 1.0)
ROWS = (
    (),
    (1 / 2,),
    (17 / 50, -1 / 25),
    (371 / 1360, -137 / 2720, 15 / 544),
    (25 / 24, -49 / 48, 125 / 16, -85 / 12),
)
WEIGHTS = (25 / 24, -49 / 48, 125 / 16, -85 / 12, 1 / 4)
LOWER = (59 / 48, -17 / 96, 225 / 32, -85 / 12, 0.0)


def run(env_data, state, calc_makespan_fn):
    work, rhs = state.metadata, env_data["rhs"]
    h = begin(work, is_implicit=True)
    if h == 0.0:
        return state
    t, y = work["t"], work["y"]
    matrix = np.eye(y.size) - h * GAMMA * jacobian(env_data, work)
    inverse = np.linalg.inv(matrix)
    scale = RELATIVE * (np.abs(y) + 1e-3 * float(np.max(np.abs(y))) + 1e-12)
    slopes = np.zeros((5, y.size))
    for i in range(5):
        known = y + h * (np.array(ROWS[i]) @ slopes[:i]) if i else y
        time = t + NODES[i] * h

        def residual(z, known=known, time=time):
            return z - h * GAMMA * rhs(time, known + z)

        guess = h * GAMMA * slopes[i - 1] if i else np.zeros(y.size)
        z, rate = solve(residual, times(inverse), guess, scale)
        if not np.isfinite(rate):
            shrink(work)
            return state
        if rate > 0.1:
            work["jac_t"] = -1.0
        slopes[i] = z / (h * GAMMA)
    error = h * ((np.array(WEIGHTS) - np.array(LOWER)) @ slopes)
    propose(work, h * (np.array(WEIGHTS) @ slopes), h, inverse @ error, 3)
    return state
