"""Compensated summation of the steps.

Method: what is lost when an increment is added to y is kept and added with the next one, so that rounding
does not grow with the number of steps. Switched on once.
Source: W. Kahan, "Further remarks on reducing truncation errors" (1965); O. Moller, "Quasi double-precision
in floating point addition" (1965).
Complexity: O(n). Evaluations: none.
"""

import numpy as np


def run(env_data, state, calc_makespan_fn):
    if "compensation" not in state.metadata:
        state.metadata["compensation"] = np.zeros(state.metadata["y"].size)
    return state
