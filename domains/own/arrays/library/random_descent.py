"""Random descent: small random changes that do not lose, until many in a row gain nothing.

Method: the neighbour replaces the solution unless its score is worse; ends after PATIENCE changes in a row
without a gain.
Source: E. Aarts, J. K. Lenstra (eds.), "Local search in combinatorial optimization" (1997).
Complexity: O(n) and one score per change. Work units: one per score.
"""

PATIENCE = 300  # tunable: int 20..5000


def run(env_data, state, calc_makespan_fn):
    rng, budget, neighbour = env_data["rng"], env_data["budget"], env_data["solution_neighbour"]
    score, vain = calc_makespan_fn(state), 0
    while vain < PATIENCE and not budget.exhausted():
        tried = neighbour(state, rng)
        changed = calc_makespan_fn(tried)
        vain = 0 if changed < score else vain + 1
        if changed <= score:
            state, score = tried, changed
    return state
