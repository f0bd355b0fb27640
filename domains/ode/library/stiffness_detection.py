"""Find out whether the problem is stiff here, and leave the next steps to implicit or explicit methods.

Method: power iteration with differences of slopes for the largest eigenvalue of the Jacobian, every so many
accepted steps; stiff is what an explicit method of order 8 would have to follow with more steps than the
solution needs. The limit is low: under tight tolerances implicit methods pay early, since the weights of
Radau's formulas are positive and those of order 8 are not, which multiplies the rounding errors of slopes.
Source: L. Petzold, "Automatic selection of methods for solving stiff and nonstiff systems" (1983); B.
Sommeijer, L. Shampine, J. Verwer, "RKC: an explicit solver for parabolic PDEs" (1998).
Complexity: O(n). Evaluations: 4, once in EVERY steps.
"""

import numpy as np
from parts.steps import commit, slope

EVERY = 200  # tunable: int 10..2000
LIMIT = 30.0  # tunable: float 10.0..1e5


def run(env_data, state, calc_makespan_fn):
    work, rhs = state.metadata, env_data["rhs"]
    commit(work)
    if work.get("seen_t", -1.0) == work["t"]:  # no step was accepted
        return state
    work["seen_t"] = work["t"]
    passed = int(work.get("since_detection", EVERY))
    work["since_detection"] = passed + 1
    if passed < EVERY:
        return state
    work["since_detection"] = 1
    t, y, f = work["t"], work["y"], slope(work, rhs)
    size = float(np.linalg.norm(y)) + 1e-12
    direction = work.get("direction", f + size * np.cos(np.arange(y.size)))
    largest = 0.0
    for _ in range(4):
        length = float(np.linalg.norm(direction))
        if length == 0.0 or not np.isfinite(length):
            break
        shift = 1e-6 * size * direction / length
        change = rhs(t, y + shift) - f
        largest = float(np.linalg.norm(change)) / (1e-6 * size)
        direction = change
    work["direction"] = direction
    work["stiff"] = bool(np.isfinite(largest) and largest * (work["end"] - t) > LIMIT)
    return state
