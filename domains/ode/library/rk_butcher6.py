"""Butcher's method of order 6.

Method: seven slopes.
Source: J. Butcher, "On Runge-Kutta processes of high order" (1964).
Complexity: O(n). Evaluations: 7 per step.
"""

from parts.explicit import explicit_step

NODES = (0.0, 1 / 3, 2 / 3, 1 / 3, 5 / 6, 1 / 6, 1.0)
ROWS = (
    (),
    (1 / 3,),
    (0.0, 2 / 3),
    (1 / 12, 1 / 3, -1 / 12),
    (25 / 48, -55 / 24, 35 / 48, 15 / 8),
    (3 / 20, -11 / 24, -1 / 8, 1 / 2, 1 / 10),
    (-261 / 260, 33 / 13, 43 / 156, -118 / 39, 32 / 195, 80 / 39),
)
WEIGHTS = (13 / 200, 0.0, 11 / 40, 11 / 40, 4 / 25, 4 / 25, 13 / 200)


def run(env_data, state, calc_makespan_fn):
    explicit_step(env_data, state.metadata, NODES, ROWS, WEIGHTS)
    return state
