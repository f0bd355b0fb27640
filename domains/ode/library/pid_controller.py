"""Proportional-integral-derivative step control.

Method: the step changes with the errors of the last three steps, by the coefficients of the controller H312.
Source: G. Soderlind, "Digital filters in adaptive time-stepping" (2003).
Complexity: O(n). Evaluations: none.
"""

from parts.control import decide, scaled_error
from parts.steps import commit

RELATIVE = 1e-13  # tunable: float 1e-14..1e-3
ABSOLUTE = 1e-15  # tunable: float 1e-16..1e-5
SAFETY = 0.9  # tunable: float 0.5..0.98


def run(env_data, state, calc_makespan_fn):
    work = state.metadata
    size = scaled_error(work, RELATIVE, ABSOLUTE)
    if size is None:
        commit(work)
        return state
    power = 1.0 / (work["order"] + 1)
    now, last, before = max(size, 1e-10), work.get("last_error", 1.0), work.get("error_before", 1.0)
    factor = SAFETY * (now**0.25 * last**0.5 * before**0.25) ** -power
    decide(work, size, factor if size <= 1.0 else SAFETY * now**-power)
    if size <= 1.0:
        work["last_error"], work["error_before"] = max(size, 1e-4), last
    return state
