"""Simulated annealing on the sequence.

Method: a random move of the sequence is decoded and accepted by the rule of Metropolis. The temperature
falls geometrically from HOT to COLD, in units of the score, over the whole share of the budget.

Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by simulated annealing, 1983; M. Gehring,
A. Bortfeldt, A parallel genetic algorithm for solving the container loading problem, 2002 (orders as
encoding).

Complexity: one decoding per proposal.
"""

import math

import numpy as np

HOT = 1.0  # tunable: float 0.01..10.0
COLD = 0.02  # tunable: float 0.0001..1.0
REACH = 0.5  # tunable: float 0.01..1.0


# exchangeable: sequence-move
def moved(sequence, reach, rng):
    """A copy of `sequence` with two entries exchanged that stand at most `reach` (a fraction of the length)
    apart.
    """
    size = sequence.size
    source = int(rng.integers(size))
    span = max(1, int(reach * size))
    target = int(np.clip(source + rng.integers(-span, span + 1), 0, size - 1))
    changed = sequence.copy()
    changed[source], changed[target] = sequence[target], sequence[source]
    return changed


# exchangeable: cooling
def temperature(remaining, hot, cold):
    """Temperature when the fraction `remaining` (1 to 0) of the share is left."""
    return hot * (cold / hot) ** (1.0 - remaining)


def run(env_data, state, calc_makespan_fn):
    """Anneal from `state` until the share is spent; the best sequence seen is the answer."""
    budget, rng = env_data["budget"], env_data["rng"]
    current = best = np.array(state.sequence, dtype=np.int32)
    score = lowest = calc_makespan_fn(state)
    while not budget.exhausted():
        heat = temperature(budget.remaining(), HOT, COLD)
        state.sequence = moved(current, REACH, rng)
        value = calc_makespan_fn(state)
        budget.charge(1)
        if value <= score - heat * math.log(1.0 - rng.random()):
            current, score = state.sequence, value
        if value < lowest:
            best, lowest = state.sequence, value
    state.sequence = best
    return state
