"""Iterated swaps: descend, disturb the best order a little, and descend again.

Method: MOVES random places are shuffled among themselves; then SWAPS times the number of places two random
places are exchanged unless that makes the order worse; the result replaces the best order unless it is worse.
Uses its whole share. It knows nothing of the problem but its decoder.
Source: H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search" (2003).
Complexity: one decode per swap. Work units: one per decode.
"""

import numpy as np

MOVES = 4  # tunable: int 2..20
SWAPS = 3  # tunable: int 1..20


def descended(state, score, rng, budget, decode):
    """Score after random swaps in ``state.sequence`` that make nothing worse."""
    order = state.sequence
    for _ in range(SWAPS * order.size):
        if budget.exhausted():
            break
        i, j = rng.integers(order.size, size=2)
        order[i], order[j] = order[j], order[i]
        changed = decode(state)
        if changed > score:
            order[i], order[j] = order[j], order[i]
        else:
            score = changed
    return score


# exchangeable: disturbance
def disturbed(order, rng):
    """A copy of the order with some places shuffled among themselves."""
    changed = order.copy()
    places = rng.permutation(order.size)[:MOVES]
    changed[places] = changed[rng.permutation(places)]
    return changed


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    best = np.array(state.sequence, dtype=np.int32)
    state.sequence = best.copy()
    best_score = calc_makespan_fn(state)
    score = best_score
    while not budget.exhausted():
        score = descended(state, score, rng, budget, calc_makespan_fn)
        if score <= best_score:
            best, best_score = state.sequence, score
        state.sequence = disturbed(best, rng)
        score = calc_makespan_fn(state)
    state.sequence = best
    return state
