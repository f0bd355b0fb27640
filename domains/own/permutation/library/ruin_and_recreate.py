"""Ruin and recreate: some entries leave the order and come back where they are best.

Method: RUIN random entries, neighbours of each other with probability LOCAL, are moved one after the other to
the best of TRIED places each. The new order is accepted like annealing does, with a temperature that falls to
zero. Uses its whole share; gives the best order met.
Source: G. Schrimpf et al., "Record breaking optimization results using the ruin and recreate principle"
(2000); R. Ruiz, T. Stützle, "A simple and effective iterated greedy algorithm" (2007).
Complexity: RUIN times TRIED scores per round. Work units: one per score.
"""

import math

import numpy as np
from parts.moves import moved

RUIN = 3  # tunable: int 1..12
TRIED = 0.5  # tunable: float 0.05..1.0
LOCAL = 0.3  # tunable: float 0.0..1.0
HEAT = 0.02  # tunable: float 0.0005..0.5


# exchangeable: ruin-order
def ruined(n, rng):
    """Positions of the entries that move."""
    count = min(RUIN, n)
    if rng.random() < LOCAL:
        start = int(rng.integers(n - count + 1))
        return np.arange(start, start + count)
    return rng.permutation(n)[:count]


def recreated(order, sources, state, env_data, calc_makespan_fn):
    """The order with the entries at `sources` moved to good places, and its score."""
    rng, budget, n = env_data["rng"], env_data["budget"], order.size
    entries, score = order[sources], None
    for entry in entries:
        (places,) = np.nonzero(order == entry)
        source = int(places[int(rng.integers(places.size))])
        best, best_score = order, None
        for target in rng.permutation(n)[: max(int(TRIED * n), 2)]:
            if target == source:
                continue
            state.sequence = moved(order, source, int(target))
            changed = calc_makespan_fn(state)
            if best_score is None or changed < best_score:
                best, best_score = state.sequence, changed
            if budget.exhausted():
                return best, best_score
        if best_score is None:
            break
        order, score = best, best_score
        if budget.exhausted():
            break
    return order, score


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    order = np.array(state.sequence, dtype=np.int32)
    score = calc_makespan_fn(state)
    best, best_score = order, score
    while not budget.exhausted():
        changed, changed_score = recreated(order, ruined(order.size, rng), state, env_data, calc_makespan_fn)
        if changed_score is None:
            break
        heat = HEAT * budget.remaining() * max(abs(best_score), 1e-9) + 1e-12
        if changed_score <= score or rng.random() < math.exp(max((score - changed_score) / heat, -700.0)):
            order, score = changed, changed_score
        if score < best_score:
            best, best_score = order, score
    state.sequence = best.copy()
    return state
