"""Elementary step control.

Method: the step that would have had the tolerance as its error, and a little less.
Source: E. Hairer, S. Norsett, G. Wanner, "Solving ordinary differential equations I" (1993), section II.4.
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
    decide(work, size, SAFETY * max(size, 1e-10) ** (-1.0 / (work["order"] + 1)))
    return state
