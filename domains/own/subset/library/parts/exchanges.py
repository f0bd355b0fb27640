"""Descent by exchanges of an item inside and one outside."""

import numpy as np


def exchange(env_data, state, score, decode, patience):
    """Exchange random pairs in ``state.sequence`` unless that loses, up to `patience` in vain."""
    rng, budget, chosen = env_data["rng"], env_data["budget"], state.sequence
    inside, outside = np.flatnonzero(chosen), np.flatnonzero(chosen == 0)
    fruitless = 0
    while inside.size and outside.size and fruitless < patience and not budget.exhausted():
        i, j = int(rng.integers(inside.size)), int(rng.integers(outside.size))
        chosen[inside[i]], chosen[outside[j]] = 0, 1
        changed = decode(state)
        fruitless = 0 if changed < score else fruitless + 1
        if changed > score:
            chosen[inside[i]], chosen[outside[j]] = 1, 0
        else:
            inside[i], outside[j] = outside[j], inside[i]
            score = changed
