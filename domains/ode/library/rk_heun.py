"""Heun's method of order 2.

Method: the mean of the slopes at both ends of an Euler step.
Source: K. Heun, "Neue Methoden zur approximativen Integration der Differentialgleichungen" (1900).
Complexity: O(n). Evaluations: 2 per step.
"""

from parts.explicit import explicit_step

NODES = (0.0, 1.0)
ROWS = ((), (1.0,))
WEIGHTS = (0.5, 0.5)


def run(env_data, state, calc_makespan_fn):
    explicit_step(env_data, state.metadata, NODES, ROWS, WEIGHTS)
    return state
