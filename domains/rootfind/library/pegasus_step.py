"""Regula falsi, the Pegasus variant."""

from parts.regula_falsi import interpolate

FIRST = 0.1  # tunable: float 0.001..0.5


def weight(f_new, f_old, f_kept):
    """Return the factor of the value at an end that was kept twice."""
    return f_old / (f_old + f_new) if f_old * f_new > 0.0 else 0.5


def run(env_data, state, calc_makespan_fn):
    interpolate(env_data, state, FIRST)
    return state
