"""Groups by fields: each item goes to the group for which a table of the instance has its least number.

Method: every array of the instance with one number per item and group gives two assignments, by least and by
largest number; the best is kept. A random assignment where there is no such array.
Source: folklore; the nearest facility, the cheapest agent.
Complexity: O(n k) per table for n items and k groups. Work units: one per assignment.
"""

import numpy as np
from parts.generic.tries import best_of


def tables(env_data, n, k):
    """Tables of the instance, float64 (n, k)."""
    for name, value in env_data.items():
        if isinstance(value, np.ndarray) and value.ndim == 2 and not name.startswith("solution_"):
            if value.shape == (n, k):
                yield value
            elif value.shape == (k, n):
                yield value.T


def states_of_tables(env_data, state):
    """The state with a random assignment, then with the two of each table."""
    n, k = env_data["solution_size"], env_data["solution_groups"]
    state.sequence = env_data["rng"].integers(k, size=n).astype(np.int32)
    yield state
    for table in tables(env_data, n, k):
        for groups in (np.argmin(table, axis=1), np.argmax(table, axis=1)):
            state.sequence = groups.astype(np.int32)
            yield state


def run(env_data, state, calc_makespan_fn):
    return best_of(states_of_tables(env_data, state), calc_makespan_fn, env_data["budget"])
