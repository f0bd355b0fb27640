"""Elementary changes of a subset."""

import numpy as np

SWAPS = 0.5  # tunable: float 0.0..1.0


# exchangeable: neighbour-subset
def neighbour(values, env_data):
    """A copy of the subset after the flip of an item, or the exchange of one inside with one outside."""
    rng = env_data["rng"]
    changed = values.copy()
    inside, outside = np.flatnonzero(values), np.flatnonzero(values == 0)
    is_swap = env_data["solution_chosen"] >= 0 or rng.random() < SWAPS
    if is_swap and inside.size and outside.size:
        changed[inside[int(rng.integers(inside.size))]] = 0
        changed[outside[int(rng.integers(outside.size))]] = 1
    elif env_data["solution_chosen"] < 0:
        item = int(rng.integers(values.size))
        changed[item] = 1 - values[item]
    return changed
