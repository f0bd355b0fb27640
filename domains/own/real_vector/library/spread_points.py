"""Spread points: the best of a Latin hypercube sample.

Method: POINTS vectors such that each number of each vector lies in another of POINTS equal parts of its
range.
Source: M. D. McKay, R. J. Beckman, W. J. Conover, "A comparison of three methods for selecting values of
input variables" (1979).
Complexity: O(n) and one score per vector. Work units: one per vector.
"""

import numpy as np

POINTS = 40  # tunable: int 2..500


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    low, high = env_data["solution_low"], env_data["solution_high"]
    cells = np.stack([rng.permutation(POINTS) for _ in range(low.size)], axis=1)
    points = low + (high - low) * (cells + rng.random(cells.shape)) / POINTS
    best, best_score = state, None
    for point in points:
        state.metadata["x"] = point.copy()
        score = calc_makespan_fn(state)
        if best_score is None or score < best_score:
            best, best_score = state.copy(), score
        if budget.exhausted():
            break
    return best
