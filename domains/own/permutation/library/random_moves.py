"""Random moves: a few entries go elsewhere.

Method: MOVES times a random entry leaves its place and enters at another.
Source: H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search" (2003), on perturbations.
Complexity: O(n) per move. Work units: one.
"""

import numpy as np

MOVES = 4  # tunable: int 1..40


def run(env_data, state, calc_makespan_fn):
    rng = env_data["rng"]
    order = np.array(state.sequence, dtype=np.int32)
    for _ in range(MOVES):
        i, j = rng.integers(order.size, size=2)
        order = np.insert(np.delete(order, i), j, order[i])
    state.sequence = order.astype(np.int32)
    env_data["budget"].charge(1)
    return state
