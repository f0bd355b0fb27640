"""Iterated local search: disturb a few numbers, descend along single numbers, keep what is no worse.

Method: KICK random numbers are drawn anew within WIDTH of their ranges; then ROUNDS times n random numbers
take steps of shrinking length unless that loses; the result replaces the vector unless it is worse. Uses its
whole share.
Source: H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search" (2003).
Complexity: one score per step. Work units: one per score.
"""

import numpy as np

KICK = 3  # tunable: int 1..30
WIDTH = 0.2  # tunable: float 0.01..1.0
ROUNDS = 10.0  # tunable: float 1.0..100.0
FINEST = 1e-6  # tunable: float 0.00000001..0.01


def descended(env_data, state, score):
    """Score after random steps of ``state.metadata["x"]`` that make nothing worse."""
    rng, budget, after = env_data["rng"], env_data["budget"], env_data["score_of_move"]
    low, high, x = env_data["solution_low"], env_data["solution_high"], state.metadata["x"]
    count = int(ROUNDS * x.size)
    for k in range(count):
        if budget.exhausted():
            break
        i = int(rng.integers(x.size))
        reach = WIDTH * (FINEST / WIDTH) ** (k / count) * (high[i] - low[i])
        value = min(max(x[i] + reach * rng.normal(), low[i]), high[i])
        changed = after(state, score, i, value)
        if changed <= score:
            x[i], score = value, changed
    return score


# exchangeable: disturbed-vector
def disturbed(x, low, high, rng):
    """A copy in which some numbers lie elsewhere."""
    changed = x.copy()
    places = rng.permutation(x.size)[:KICK]
    changed[places] += WIDTH * (high - low)[places] * rng.normal(size=places.size)
    return np.clip(changed, low, high)


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    low, high = env_data["solution_low"], env_data["solution_high"]
    state.metadata["x"] = np.array(state.metadata["x"], dtype=np.float64)
    score = descended(env_data, state, calc_makespan_fn(state))
    best, best_score = state.metadata["x"].copy(), score
    while not budget.exhausted():
        state.metadata["x"] = disturbed(best, low, high, rng)
        score = descended(env_data, state, calc_makespan_fn(state))
        if score <= best_score:
            best, best_score = state.metadata["x"].copy(), score
    state.metadata["x"] = best
    return state
