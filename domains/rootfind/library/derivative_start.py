"""The initial guess with f and its first derivatives there, in one round."""

import numpy as np
from parts.history import begin


def run(env_data, state, calc_makespan_fn):
    """Evaluate f and its Jacobian at x0."""
    x0 = env_data["x0"]
    fx, jacobian = env_data["f_jacobian"](x0)
    begin(state, x0[None], fx[None])
    if np.isfinite(jacobian).all():
        state.metadata["jacobian"] = jacobian
    return state
