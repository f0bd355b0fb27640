"""Iterated local search: disturb, descend by random changes, keep what is no worse.

Method: KICK random flips or exchanges; then ROUNDS times n random changes are tried and taken unless they
lose; the result replaces the subset unless it is worse. Uses its whole share.
Source: H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search" (2003).
Complexity: one score per change. Work units: one per score.
"""

import numpy as np
from parts.changes import neighbour

KICK = 3  # tunable: int 1..30
ROUNDS = 3.0  # tunable: float 0.5..20.0


def descended(env_data, state, score, decode):
    """Score after random changes of ``state.sequence`` that make nothing worse."""
    values = state.sequence
    for _ in range(int(ROUNDS * values.size)):
        if env_data["budget"].exhausted():
            break
        state.sequence = neighbour(values, env_data)
        changed = decode(state)
        if changed <= score:
            values, score = state.sequence, changed
    state.sequence = values
    return score


def run(env_data, state, calc_makespan_fn):
    budget = env_data["budget"]
    state.sequence = np.array(state.sequence, dtype=np.int32)
    score = descended(env_data, state, calc_makespan_fn(state), calc_makespan_fn)
    best, best_score = state.sequence.copy(), score
    while not budget.exhausted():
        for _ in range(KICK):
            state.sequence = neighbour(state.sequence, env_data)
        score = descended(env_data, state, calc_makespan_fn(state), calc_makespan_fn)
        if score <= best_score:
            best, best_score = state.sequence.copy(), score
        state.sequence = best.copy()
    state.sequence = best
    return state
