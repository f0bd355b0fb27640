"""Random moves: a few items go to random groups.

Method: MOVES random items get random groups.
Source: H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search" (2003), on perturbations.
Complexity: O(n). Work units: one.
"""

import numpy as np

MOVES = 4  # tunable: int 1..40


def run(env_data, state, calc_makespan_fn):
    rng = env_data["rng"]
    groups = np.array(state.sequence, dtype=np.int32)
    items = rng.permutation(groups.size)[:MOVES]
    groups[items] = rng.integers(env_data["solution_groups"], size=items.size)
    state.sequence = groups
    env_data["budget"].charge(1)
    return state
