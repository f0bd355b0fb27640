"""The initial guess and its value."""

from parts.history import begin


def run(env_data, state, calc_makespan_fn):
    """Evaluate f at x0."""
    x0 = env_data["x0"][None]
    begin(state, x0, env_data["f_many"](x0))
    return state
