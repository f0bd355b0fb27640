"""Halley's method."""

from parts.second_derivative import curved_step

FIRST = 0.02  # tunable: float 0.001..0.5


def fraction(y, slope, bend):
    """Return numerator and denominator of the way to the zero of the hyperbola with these derivatives."""
    return 2.0 * y * slope, 2.0 * slope * slope - y * bend


def run(env_data, state, calc_makespan_fn):
    curved_step(env_data, state, FIRST)
    return state
