"""Random arrays: the best of a few random solutions.

Method: TRIES random solutions are scored and the best is kept.
Source: folklore; the weakest start, and the most varied one.
Complexity: O(n) and one score per solution. Work units: one per solution.
"""

TRIES = 20  # tunable: int 1..500


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    best, best_score = state, None
    for _ in range(TRIES):
        tried = env_data["solution_random"](rng)
        score = calc_makespan_fn(tried)
        if best_score is None or score < best_score:
            best, best_score = tried, score
        if budget.exhausted():
            break
    return best
