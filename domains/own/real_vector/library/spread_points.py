"""Spread points: the best of a Latin hypercube sample.

Method: POINTS vectors such that each number of each vector lies in another of POINTS equal parts of its
range.
Source: M. D. McKay, R. J. Beckman, W. J. Conover, "A comparison of three methods for selecting values of
input variables" (1979).
Complexity: O(n) and one score per vector. Work units: one per vector.
"""

import numpy as np
from parts.generic.tries import best_of

POINTS = 40  # tunable: int 2..500


def spread_states(env_data, state):
    """The state with the vectors of a Latin hypercube sample, one after the other."""
    rng, low, high = env_data["rng"], env_data["solution_low"], env_data["solution_high"]
    cells = np.stack([rng.permutation(POINTS) for _ in range(low.size)], axis=1)
    for point in low + (high - low) * (cells + rng.random(cells.shape)) / POINTS:
        state.metadata["x"] = point.copy()
        yield state


def run(env_data, state, calc_makespan_fn):
    return best_of(spread_states(env_data, state), calc_makespan_fn, env_data["budget"])
