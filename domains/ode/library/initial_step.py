"""Choose the first step.

Method: a guess from the sizes of y and f, one explicit Euler step, and from the change of the slope a step
whose local error of the wanted order is about 1 % of the tolerance. Acts at the beginning alone.
Source: I. Gladwell, L. Shampine, R. Brankin, "Automatic selection of the initial step size for an ODE solver"
(1987); E. Hairer, S. Norsett, G. Wanner, "Solving ordinary differential equations I" (1993), section II.4.
Complexity: O(n). Evaluations: 2.
"""

import numpy as np
from parts.steps import slope

RELATIVE = 1e-13  # tunable: float 1e-14..1e-3
ABSOLUTE = 1e-15  # tunable: float 1e-16..1e-5
ORDER = 8  # tunable: int 1..13


def run(env_data, state, calc_makespan_fn):
    work = state.metadata
    if "first_step" in work:
        return state
    rhs, y = env_data["rhs"], work["y"]
    f = slope(work, rhs)
    scale = ABSOLUTE + RELATIVE * np.abs(y)
    size = np.sqrt(np.mean((y / scale) ** 2))
    speed = np.sqrt(np.mean((f / scale) ** 2))
    guess = 1e-6 if size < 1e-5 or speed < 1e-5 else 0.01 * size / speed
    guess = min(guess, work["end"])
    bend = np.sqrt(np.mean(((rhs(work["t"] + guess, y + guess * f) - f) / scale) ** 2)) / guess
    largest = max(speed, bend)
    step = max(1e-6, guess * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / (ORDER + 1))
    work["first_step"] = float(min(100.0 * guess, step, work["end"]))
    if np.isfinite(work["first_step"]) and work["first_step"] > 0.0:
        work["h"] = work["first_step"]
    return state
