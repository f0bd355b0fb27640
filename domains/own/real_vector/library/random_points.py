"""Random points: the best of a few random vectors.

Method: TRIES vectors drawn evenly between the bounds are scored and the best is kept.
Source: folklore; the weakest start, and the most varied one.
Complexity: O(n) and one score per vector. Work units: one per vector.
"""

TRIES = 20  # tunable: int 1..500


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    low, high = env_data["solution_low"], env_data["solution_high"]
    best, best_score = state, None
    for _ in range(TRIES):
        state.metadata["x"] = low + (high - low) * rng.random(low.size)
        score = calc_makespan_fn(state)
        if best_score is None or score < best_score:
            best, best_score = state.copy(), score
        if budget.exhausted():
            break
    return best
