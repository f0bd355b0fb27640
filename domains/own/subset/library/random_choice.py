"""Random choice: the best of a few random subsets.

Method: TRIES random subsets of random size, or of the given one, are scored and the best is kept.
Source: folklore; the weakest start, and the most varied one.
Complexity: O(n) and one score per subset. Work units: one per subset.
"""

import numpy as np
from parts.generic.tries import best_of

TRIES = 10  # tunable: int 1..200


def random_states(env_data, state):
    """The state with TRIES random subsets, one after the other."""
    rng, n, size = env_data["rng"], env_data["solution_size"], env_data["solution_chosen"]
    for _ in range(TRIES):
        count = size if size >= 0 else int(rng.integers(n + 1))
        state.sequence = np.zeros(n, np.int32)
        state.sequence[rng.permutation(n)[:count]] = 1
        yield state


def run(env_data, state, calc_makespan_fn):
    return best_of(random_states(env_data, state), calc_makespan_fn, env_data["budget"])
