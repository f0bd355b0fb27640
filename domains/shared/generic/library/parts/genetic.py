"""Genetic search over arrays in ``state.sequence``; the taker brings ``neighbour`` and ``crossed``."""

import numpy as np
from parts.taker import crossed, neighbour

POPULATION = 8  # tunable: int 3..40
MUTATION = 0.3  # tunable: float 0.0..1.0
STEPS = 2.0  # tunable: float 0.0..10.0
SHAKEN = 0.3  # tunable: float 0.05..1.0


def improved(values, state, env_data, decode):
    """The array after STEPS times its length random changes that do not lose, and its score."""
    budget = env_data["budget"]
    state.sequence = values
    score = decode(state)
    for _ in range(int(STEPS * values.size)):
        if budget.exhausted():
            break
        state.sequence = neighbour(values, env_data)
        changed = decode(state)
        if changed <= score:
            values, score = state.sequence, changed
    return values, score


def better_of_two(members, rng):
    """The better of two random members, pairs of array and score."""
    first, second = rng.integers(len(members), size=2)
    return min(members[first], members[second], key=lambda one: one[1])


def bred(env_data, state, decode):
    """The state with the best member of a small population whose children improve a little."""
    rng, budget = env_data["rng"], env_data["budget"]
    start = np.array(state.sequence, dtype=np.int32)
    members = [(start, decode(state))]
    while len(members) < POPULATION and not budget.exhausted():
        values = start
        for _ in range(max(int(SHAKEN * start.size), 1)):
            values = neighbour(values, env_data)
        members.append(improved(values, state, env_data, decode))
    while not budget.exhausted():
        child = crossed(better_of_two(members, rng)[0], better_of_two(members, rng)[0], env_data)
        if rng.random() < MUTATION:
            child = neighbour(child, env_data)
        child, score = improved(child, state, env_data, decode)
        worst = max(range(len(members)), key=lambda k: members[k][1])
        is_new = all(score != other or (child != values).any() for values, other in members)
        if score < members[worst][1] and is_new:
            members[worst] = child, score
    state.sequence = min(members, key=lambda one: one[1])[0].copy()
    return state
