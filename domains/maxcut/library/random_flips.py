"""Random flips.

Method: a share of the vertices, drawn between WEAKEST and STRONGEST, changes sides.
Source: P. Festa, P. Pardalos, M. Resende, C. Ribeiro, "Randomized heuristics for the MAX-CUT problem" (2002),
the shaking of their variable neighbourhood search.
Complexity: O(n). Work units: one per call.
"""

import numpy as np

WEAKEST = 0.01  # tunable: float 0.001..0.1
STRONGEST = 0.1  # tunable: float 0.01..0.4


def run(env_data, state, calc_makespan_fn):
    rng, n = env_data["rng"], env_data["num_nodes"]
    share = WEAKEST + (max(STRONGEST, WEAKEST) - WEAKEST) * rng.random()
    chosen = rng.permutation(n)[: max(1, int(share * n))]
    sides = state.sequence.astype(np.int32)
    sides[chosen] = 1 - sides[chosen]
    env_data["budget"].charge(1)
    state.sequence = sides
    return state
