"""Explicit Euler.

Method: one step along the slope; order 1.
Source: L. Euler, "Institutionum calculi integralis" (1768).
Complexity: O(n). Evaluations: 1 per step.
"""

from parts.explicit import explicit_step

NODES = (0.0,)
ROWS = ((),)
WEIGHTS = (1.0,)


def run(env_data, state, calc_makespan_fn):
    explicit_step(env_data, state.metadata, NODES, ROWS, WEIGHTS)
    return state
