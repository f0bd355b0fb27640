"""The initial guess and points ever farther from it, until the sign of f changes."""

from parts.history import begin, visit
from parts.steps import bracket_of

FIRST = 0.25  # tunable: float 0.01..1.0
GROWTH = 2.0  # tunable: float 1.2..4.0
MOST = 8  # tunable: int 1..20


def run(env_data, state, calc_makespan_fn):
    """Evaluate f at x0 and at both sides of it in turn; several variables have no sign: x0 alone."""
    x0, n = env_data["x0"], env_data["dimension"]
    begin(state, x0[None], env_data["f_many"](x0[None]))
    step, side = FIRST * env_data["radius"], 1.0
    for _ in range(MOST if n == 1 else 0):
        if bracket_of(state.metadata) is not None or calc_makespan_fn(state) <= env_data["tolerance"]:
            break
        visit(env_data, state, x0 + side * step)
        side, step = -side, step * GROWTH if side < 0.0 else step
    return state
