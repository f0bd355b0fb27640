"""Simulated annealing: small random changes that may lose, less and less often.

Method: a change that loses d is made with probability exp(-d / T). T falls from HOT to COLD times the usual
change of score as the share is used up. Uses its whole share; gives the best solution met.
Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing" (1983).
Complexity: O(n) and one score per change. Work units: one per score.
"""

import math

HOT = 0.5  # tunable: float 0.02..5.0
COLD = 0.002  # tunable: float 0.00005..0.1
SAMPLE = 40


# exchangeable: cooling
def temperature(remaining):
    """Temperature in units of the usual change of score; `remaining` falls from 1 to 0."""
    return COLD * (HOT / COLD) ** remaining


def run(env_data, state, calc_makespan_fn):
    rng, budget, neighbour = env_data["rng"], env_data["budget"], env_data["solution_neighbour"]
    score = calc_makespan_fn(state)
    best, best_score, changes, unit = state, score, [], 1.0
    while not budget.exhausted():
        tried = neighbour(state, rng)
        changed = calc_makespan_fn(tried)
        if len(changes) < SAMPLE and 0.0 < abs(changed - score) < 1e29:
            changes.append(abs(changed - score))
            unit = sum(changes) / len(changes)
        heat = unit * temperature(budget.remaining())
        if changed <= score or rng.random() < math.exp(max((score - changed) / heat, -700.0)):
            state, score = tried, changed
            if score < best_score:
                best, best_score = state, score
    return best
