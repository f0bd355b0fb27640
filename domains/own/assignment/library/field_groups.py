"""Groups by fields: each item goes to the group for which a table of the instance has its least number.

Method: every array of the instance with one number per item and group gives two assignments, by least and by
largest number; the best is kept. A random assignment where there is no such array.
Source: folklore; the nearest facility, the cheapest agent.
Complexity: O(n k) per table for n items and k groups. Work units: one per assignment.
"""

import numpy as np


def tables(env_data, n, k):
    """Tables of the instance, float64 (n, k)."""
    for name, value in env_data.items():
        if isinstance(value, np.ndarray) and value.ndim == 2 and not name.startswith("solution_"):
            if value.shape == (n, k):
                yield value
            elif value.shape == (k, n):
                yield value.T


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    n, k = env_data["solution_size"], env_data["solution_groups"]
    state.sequence = rng.integers(k, size=n).astype(np.int32)
    best, best_score = state.copy(), calc_makespan_fn(state)
    for table in tables(env_data, n, k):
        for groups in (np.argmin(table, axis=1), np.argmax(table, axis=1)):
            if budget.exhausted():
                return best
            state.sequence = groups.astype(np.int32)
            score = calc_makespan_fn(state)
            if score < best_score:
                best, best_score = state.copy(), score
    return best
