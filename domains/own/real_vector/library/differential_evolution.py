"""Differential evolution: vectors change by differences of others.

Method: POPULATION vectors, the given one and others around it within WIDTH of the ranges; a trial takes a
part CROSSED of its numbers from a vector between the member and the best, plus FACTOR times the difference
of two others; it replaces the member unless it is worse. Uses its whole share.
Source: R. Storn, K. Price, "Differential evolution" (1997).
Complexity: O(n) and one score per trial. Work units: one per score.
"""

import numpy as np

POPULATION = 20  # tunable: int 5..100
WIDTH = 0.3  # tunable: float 0.01..1.0
FACTOR = 0.6  # tunable: float 0.1..1.2
CROSSED = 0.5  # tunable: float 0.02..1.0


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    low, high = env_data["solution_low"], env_data["solution_high"]
    x = np.clip(np.array(state.metadata["x"], dtype=np.float64), low, high)
    members, scores = [x], [calc_makespan_fn(state)]
    while len(members) < POPULATION and not budget.exhausted():
        member = np.clip(x + WIDTH * (high - low) * rng.normal(size=x.size), low, high)
        state.metadata["x"] = member
        members.append(member)
        scores.append(calc_makespan_fn(state))
    while len(members) >= 4 and not budget.exhausted():
        best = members[int(np.argmin(np.array(scores)))]
        for k in range(len(members)):
            if budget.exhausted():
                break
            a, b = rng.permutation(len(members))[:2]
            weight = FACTOR * rng.uniform(0.5, 1.0)
            mutant = members[k] + weight * (best - members[k]) + weight * (members[a] - members[b])
            mask = rng.random(x.size) < CROSSED
            mask[int(rng.integers(x.size))] = True
            trial = np.where(mask, np.clip(mutant, low, high), members[k])
            state.metadata["x"] = trial
            score = calc_makespan_fn(state)
            if score <= scores[k]:
                members[k], scores[k] = trial, score
    state.metadata["x"] = members[int(np.argmin(np.array(scores)))].copy()
    return state
