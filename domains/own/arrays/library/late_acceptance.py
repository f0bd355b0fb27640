"""Late acceptance: a change is taken if it is no worse than the solution of some time ago.

Method: the neighbour is taken if its score is at most that of MEMORY changes ago, or at most the present
one. Uses its whole share; gives the best solution met.
Source: E. K. Burke, Y. Bykov, "The late acceptance hill-climbing heuristic" (2017).
Complexity: O(n) and one score per change. Work units: one per score.
"""

MEMORY = 100  # tunable: int 5..2000


def run(env_data, state, calc_makespan_fn):
    rng, budget, neighbour = env_data["rng"], env_data["budget"], env_data["solution_neighbour"]
    score = calc_makespan_fn(state)
    best, best_score, place = state, score, 0
    history = [score] * MEMORY
    while not budget.exhausted():
        tried = neighbour(state, rng)
        changed = calc_makespan_fn(tried)
        if changed <= max(history[place], score):
            state, score = tried, changed
            if score < best_score:
                best, best_score = state, score
        history[place] = min(history[place], score)
        place = (place + 1) % MEMORY
    return best
