"""Random changes: a solution some random changes away.

Method: MOVES small random changes, whatever they do to the score.
Source: H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search" (2003), on perturbations.
Complexity: O(n) per change. Work units: one.
"""

MOVES = 5  # tunable: int 1..50


def run(env_data, state, calc_makespan_fn):
    for _ in range(MOVES):
        state = env_data["solution_neighbour"](state, env_data["rng"])
    env_data["budget"].charge(1)
    return state
