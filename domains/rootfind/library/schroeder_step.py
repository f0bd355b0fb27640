"""Newton's method on f / f', which has simple roots: Schröder's correction for multiple ones."""

from parts.second_derivative import curved_step

FIRST = 0.02  # tunable: float 0.001..0.5


def fraction(y, slope, bend):
    """Return numerator and denominator of the way back: f f' / (f'² - f f'')."""
    return y * slope, slope * slope - y * bend


def run(env_data, state, calc_makespan_fn):
    curved_step(env_data, state, FIRST)
    return state
