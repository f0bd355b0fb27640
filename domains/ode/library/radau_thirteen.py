"""Radau IIA of order 13.

Method: collocation at the 7 nodes of Radau's right formula, Newton's method for all stages at once, an
embedded error estimate. For stiff problems.
Source: E. Hairer, G. Wanner, "Stiff differential equations solved by Radau methods" (1999).
Complexity: O((7 n)^3) per new step length. Evaluations: 7 per round of Newton's method, n per Jacobian.
"""

from parts.collocation import radau_step

RELATIVE = 1e-13  # tunable: float 1e-14..1e-3
ABSOLUTE = 1e-16  # tunable: float 1e-16..1e-5


def run(env_data, state, calc_makespan_fn):
    radau_step(env_data, state.metadata, 7, RELATIVE, ABSOLUTE)
    return state
