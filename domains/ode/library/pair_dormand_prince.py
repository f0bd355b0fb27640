"""The pair 5(4) of Dormand and Prince.

Method: order 5 with an estimate of order 4; the last slope is the first of the next step.
Source: J. Dormand, P. Prince, "A family of embedded Runge-Kutta formulae" (1980).
Complexity: O(n). Evaluations: 6 per step.
"""

from parts.explicit import explicit_step

NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0)
ROWS = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
WEIGHTS = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
ERROR = (-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40)


def run(env_data, state, calc_makespan_fn):
    explicit_step(env_data, state.metadata, NODES, ROWS, WEIGHTS, ERROR, 4)
    return state
