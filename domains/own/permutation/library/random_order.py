"""Random order: the best of a few random orders.

Method: TRIES random orders are scored and the best is kept.
Source: folklore; the weakest start, and the most varied one.
Complexity: O(n) and one score per order. Work units: one per order.
"""

import numpy as np
from parts.entries import entries_of
from parts.generic.tries import best_of

TRIES = 10  # tunable: int 1..200


def random_states(env_data, state):
    """The state with TRIES random orders, one after the other."""
    entries = entries_of(env_data)
    for _ in range(TRIES):
        state.sequence = env_data["rng"].permutation(entries).astype(np.int32)
        yield state


def run(env_data, state, calc_makespan_fn):
    return best_of(random_states(env_data, state), calc_makespan_fn, env_data["budget"])
