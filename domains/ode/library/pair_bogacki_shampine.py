"""The pair 3(2) of Bogacki and Shampine.

Method: order 3 with an estimate of order 2; the last slope is the first of the next step.
Source: P. Bogacki, L. Shampine, "A 3(2) pair of Runge-Kutta formulas" (1989).
Complexity: O(n). Evaluations: 3 per step.
"""

from parts.explicit import explicit_step

NODES = (0.0, 1 / 2, 3 / 4)
ROWS = ((), (1 / 2,), (0.0, 3 / 4))
WEIGHTS = (2 / 9, 1 / 3, 4 / 9)
ERROR = (5 / 72, -1 / 12, -1 / 9, 1 / 8)


def run(env_data, state, calc_makespan_fn):
    explicit_step(env_data, state.metadata, NODES, ROWS, WEIGHTS, ERROR, 2)
    return state
