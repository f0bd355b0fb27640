"""The secant method; in several variables the secant through the last n + 1 points."""

from parts.steps import secant_move

FIRST = 0.02  # tunable: float 0.0001..0.5


def run(env_data, state, calc_makespan_fn):
    """Go to the zero of the line, or the affine map, through the last points."""
    secant_move(env_data, state, FIRST)
    return state
