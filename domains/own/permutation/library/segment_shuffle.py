"""Segment shuffle: a stretch of the order is drawn anew.

Method: a random segment of LENGTH of the places, 2 at least, is put into random order.
Source: H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search" (2003), on perturbations.
Complexity: O(n). Work units: one.
"""

import numpy as np

LENGTH = 0.2  # tunable: float 0.02..0.8


def run(env_data, state, calc_makespan_fn):
    rng = env_data["rng"]
    order = np.array(state.sequence, dtype=np.int32)
    length = min(max(int(LENGTH * order.size), 2), order.size)
    start = int(rng.integers(order.size - length + 1))
    order[start : start + length] = rng.permutation(order[start : start + length])
    state.sequence = order
    env_data["budget"].charge(1)
    return state
