"""Random changes: a few items come in, go out or change places.

Method: MOVES random flips, or exchanges of an item inside with one outside.
Source: H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search" (2003), on perturbations.
Complexity: O(n) per change. Work units: one.
"""

import numpy as np
from parts.changes import neighbour

MOVES = 4  # tunable: int 1..40


def run(env_data, state, calc_makespan_fn):
    state.sequence = np.array(state.sequence, dtype=np.int32)
    for _ in range(MOVES):
        state.sequence = neighbour(state.sequence, env_data)
    env_data["budget"].charge(1)
    return state
