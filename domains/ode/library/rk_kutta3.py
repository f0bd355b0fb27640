"""Kutta's method of order 3.

Method: three slopes, weighted like Simpson's rule.
Source: W. Kutta, "Beitrag zur naeherungsweisen Integration totaler Differentialgleichungen" (1901).
Complexity: O(n). Evaluations: 3 per step.
"""

from parts.explicit import explicit_step

NODES = (0.0, 0.5, 1.0)
ROWS = ((), (0.5,), (-1.0, 2.0))
WEIGHTS = (1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0)


def run(env_data, state, calc_makespan_fn):
    explicit_step(env_data, state.metadata, NODES, ROWS, WEIGHTS)
    return state
