"""Random steps: a few numbers go elsewhere.

Method: MOVES random numbers change by normal deviates of WIDTH of their ranges.
Source: H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search" (2003), on perturbations.
Complexity: O(n). Work units: one.
"""

import numpy as np

MOVES = 4  # tunable: int 1..40
WIDTH = 0.1  # tunable: float 0.001..1.0


def run(env_data, state, calc_makespan_fn):
    rng = env_data["rng"]
    low, high = env_data["solution_low"], env_data["solution_high"]
    x = np.array(state.metadata["x"], dtype=np.float64)
    places = rng.permutation(x.size)[:MOVES]
    x[places] += WIDTH * (high - low)[places] * rng.normal(size=places.size)
    state.metadata["x"] = np.clip(x, low, high)
    env_data["budget"].charge(1)
    return state
