"""Density order: look at the items with the most value per unit of weight first.

Method: items are sorted by value / weight^EXPONENT, the highest first; ties keep the order of the instance.
Source: G. B. Dantzig, "Discrete-variable extremum problems" (1957).
Complexity: O(n log n). Work units: one.
"""

import numpy as np

EXPONENT = 1.0  # tunable: float 0.5..1.5


# exchangeable: item-priority
def priorities(values, weights, capacity):
    """Priority of each item, float64 (n,): the highest is looked at first."""
    return values / weights**EXPONENT


def run(env_data, state, calc_makespan_fn):
    values = env_data["values"].astype(np.float64)
    weights = env_data["weights"].astype(np.float64)
    keys = priorities(values, weights, env_data["capacity"])
    state.sequence = np.argsort(-keys, kind="stable").astype(np.int32)
    env_data["budget"].charge(1)
    return state
