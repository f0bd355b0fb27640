"""Proportional-integral step control.

Method: the step changes with the error and with its change against the last step; less refusals than by the
error alone.
Source: K. Gustafsson, "Control theoretic techniques for stepsize selection in explicit Runge-Kutta methods"
(1991).
Complexity: O(n). Evaluations: none.
"""

from parts.control import decide, scaled_error
from parts.steps import commit

RELATIVE = 3e-14  # tunable: float 1e-14..1e-3
ABSOLUTE = 1e-16  # tunable: float 1e-16..1e-5
SAFETY = 0.9  # tunable: float 0.5..0.98
MEMORY = 0.04  # tunable: float 0.0..0.2


def run(env_data, state, calc_makespan_fn):
    work = state.metadata
    size = scaled_error(work, RELATIVE, ABSOLUTE)
    if size is None:
        commit(work)
        return state
    last = work.get("last_error", 1e-4)
    bounded = max(size, 1e-10)
    power = 1.0 / (work["order"] + 1)
    factor = (
        SAFETY * bounded ** -(power - 0.75 * MEMORY) * last**MEMORY
        if size <= 1.0
        else SAFETY * bounded**-power
    )
    decide(work, size, factor)
    if size <= 1.0:
        work["last_error"] = max(size, 1e-4)
    return state
