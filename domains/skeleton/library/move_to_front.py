"""Move to front: a few random items are looked at first.

Method: MOVES random items are put at the front of the order; the others keep theirs.
Source: H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search" (2003), on perturbations.
Complexity: O(n). Work units: one.
"""

import numpy as np

MOVES = 3  # tunable: int 1..20


def run(env_data, state, calc_makespan_fn):
    rng, n = env_data["rng"], env_data["num_items"]
    moved = rng.permutation(n)[:MOVES]
    rest = state.sequence[~np.isin(state.sequence, moved)]
    state.sequence = np.concatenate((moved, rest)).astype(np.int32)
    env_data["budget"].charge(1)
    return state
