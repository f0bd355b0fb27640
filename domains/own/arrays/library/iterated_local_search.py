"""Iterated local search: a few random changes, a descent, and what is no worse is kept.

Method: KICK random changes; then changes that do not lose until PATIENCE in a row gain nothing; the result
replaces the solution unless it is worse. Uses its whole share.
Source: H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search" (2003).
Complexity: O(n) and one score per change. Work units: one per score.
"""

KICK = 3  # tunable: int 1..30
PATIENCE = 100  # tunable: int 10..2000


# exchangeable: disturbed-arrays
def disturbed(state, env_data):
    """A new state some random changes away."""
    for _ in range(KICK):
        state = env_data["solution_neighbour"](state, env_data["rng"])
    return state


def descended(state, env_data, decode):
    """The state that random changes lead to which make nothing worse, and its score."""
    rng, budget = env_data["rng"], env_data["budget"]
    score, vain = decode(state), 0
    while vain < PATIENCE and not budget.exhausted():
        tried = env_data["solution_neighbour"](state, rng)
        changed = decode(tried)
        vain = 0 if changed < score else vain + 1
        if changed <= score:
            state, score = tried, changed
    return state, score


def run(env_data, state, calc_makespan_fn):
    best, best_score = descended(state, env_data, calc_makespan_fn)
    while not env_data["budget"].exhausted():
        tried, score = descended(disturbed(best, env_data), env_data, calc_makespan_fn)
        if score <= best_score:
            best, best_score = tried, score
    return best
