"""Random points: the best of a few random vectors.

Method: TRIES vectors drawn evenly between the bounds are scored and the best is kept.
Source: folklore; the weakest start, and the most varied one.
Complexity: O(n) and one score per vector. Work units: one per vector.
"""

from parts.generic.tries import best_of

TRIES = 20  # tunable: int 1..500


def random_states(env_data, state):
    """The state with TRIES random vectors, one after the other."""
    low, high = env_data["solution_low"], env_data["solution_high"]
    for _ in range(TRIES):
        state.metadata["x"] = low + (high - low) * env_data["rng"].random(low.size)
        yield state


def run(env_data, state, calc_makespan_fn):
    return best_of(random_states(env_data, state), calc_makespan_fn, env_data["budget"])
