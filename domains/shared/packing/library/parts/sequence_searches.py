"""Searches on the sequence of items by swaps, which are decoded one by one."""

import math

import numpy as np
from parts.packing.cooling import temperature
from parts.sequences.swap_move import moved


def iterate(env_data, state, calc_makespan_fn, patience, kicks, reach):
    """Search by swaps until the share is spent; after `patience` ones without gain come `kicks` at once."""
    budget, rng = env_data["budget"], env_data["rng"]
    best = np.array(state.sequence, dtype=np.int32)
    lowest = calc_makespan_fn(state)
    current, score, failures = best, lowest, 0
    while not budget.exhausted():
        if failures >= patience:
            if score <= lowest:
                best, lowest = current, score
            current = best
            for _ in range(kicks):
                current = moved(current, reach, rng)
            state.sequence = current
            score, failures = calc_makespan_fn(state), 0
        state.sequence = moved(current, reach, rng)
        value = calc_makespan_fn(state)
        budget.charge(1)
        failures = 0 if value < score else failures + 1
        if value <= score:
            current, score = state.sequence, value
    state.sequence = current if score <= lowest else best
    return state


def anneal(env_data, state, calc_makespan_fn, hot, cold, reach):
    """Anneal from `state` until the share is spent; the best sequence seen is the answer."""
    budget, rng = env_data["budget"], env_data["rng"]
    current = best = np.array(state.sequence, dtype=np.int32)
    score = lowest = calc_makespan_fn(state)
    while not budget.exhausted():
        heat = temperature(budget.remaining(), hot, cold)
        state.sequence = moved(current, reach, rng)
        value = calc_makespan_fn(state)
        budget.charge(1)
        if value <= score - heat * math.log(1.0 - rng.random()):
            current, score = state.sequence, value
        if value < lowest:
            best, lowest = state.sequence, value
    state.sequence = best
    return state
