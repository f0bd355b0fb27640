"""Random groups: the best of a few random assignments.

Method: TRIES random assignments are scored and the best is kept.
Source: folklore; the weakest start, and the most varied one.
Complexity: O(n) and one score per assignment. Work units: one per assignment.
"""

import numpy as np
from parts.generic.tries import best_of

TRIES = 10  # tunable: int 1..200


def random_states(env_data, state):
    """The state with TRIES random assignments, one after the other."""
    n, k = env_data["solution_size"], env_data["solution_groups"]
    for _ in range(TRIES):
        state.sequence = env_data["rng"].integers(k, size=n).astype(np.int32)
        yield state


def run(env_data, state, calc_makespan_fn):
    return best_of(random_states(env_data, state), calc_makespan_fn, env_data["budget"])
