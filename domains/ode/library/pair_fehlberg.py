"""Fehlberg's pair 7(8), with the solution of order 8.

Method: thirteen slopes; the error is that of the formula of order 7.
Source: E. Fehlberg, "Classical fifth-, sixth-, seventh-, and eighth-order Runge-Kutta formulas with stepsize
control" (1968).
Complexity: O(n). Evaluations: 13 per step.
"""

from parts.explicit import explicit_step

NODES = (0.0, 2 / 27, 1 / 9, 1 / 6, 5 / 12, 1 / 2, 5 / 6, 1 / 6, 2 / 3, 1 / 3, 1.0, 0.0, 1.0)
ROWS = (
    (),
    (2 / 27,),
    (1 / 36, 1 / 12),
    (1 / 24, 0.0, 1 / 8),
    (5 / 12, 0.0, -25 / 16, 25 / 16),
    (1 / 20, 0.0, 0.0, 1 / 4, 1 / 5),
    (-25 / 108, 0.0, 0.0, 125 / 108, -65 / 27, 125 / 54),
    (31 / 300, 0.0, 0.0, 0.0, 61 / 225, -2 / 9, 13 / 900),
    (2.0, 0.0, 0.0, -53 / 6, 704 / 45, -107 / 9, 67 / 90, 3.0),
    (-91 / 108, 0.0, 0.0, 23 / 108, -976 / 135, 311 / 54, -19 / 60, 17 / 6, -1 / 12),
    (2383 / 4100, 0.0, 0.0, -341 / 164, 4496 / 1025, -301 / 82, 2133 / 4100, 45 / 82, 45 / 164, 18 / 41),
    (3 / 205, 0.0, 0.0, 0.0, 0.0, -6 / 41, -3 / 205, -3 / 41, 3 / 41, 6 / 41, 0.0),
    (
        -1777 / 4100,
        0.0,
        0.0,
        -341 / 164,
        4496 / 1025,
        -289 / 82,
        2193 / 4100,
        51 / 82,
        33 / 164,
        12 / 41,
        0.0,
        1.0,
    ),
)
WEIGHTS = (0.0, 0.0, 0.0, 0.0, 0.0, 34 / 105, 9 / 35, 9 / 35, 9 / 280, 9 / 280, 0.0, 41 / 840, 41 / 840)
ERROR = (41 / 840, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 41 / 840, -41 / 840, -41 / 840)


def run(env_data, state, calc_makespan_fn):
    explicit_step(env_data, state.metadata, NODES, ROWS, WEIGHTS, ERROR, 7)
    return state
