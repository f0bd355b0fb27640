"""Several points around the initial guess, all asked in one round."""

import numpy as np
from parts.history import begin

COUNT = 4  # tunable: int 2..7
CHECKED = 1  # tunable: int 0..1
WIDTH = 0.25  # tunable: float 0.02..1.0


def run(env_data, state, calc_makespan_fn):
    """Evaluate f at COUNT points of one variable; of several, at x0, to both sides of it on each axis, and
    off them."""
    x0, n, reach = env_data["x0"], env_data["dimension"], WIDTH * env_data["radius"]
    if n == 1:
        offsets = np.linspace(-reach, reach, COUNT)[:, None]
    else:
        axes = reach * np.eye(n)
        offsets = np.vstack([np.zeros((1, n)), axes, -axes, np.full((CHECKED, n), 0.5 * reach)])
    points = x0 + offsets
    begin(state, points, env_data["f_many"](points))
    return state
