"""Perturbations by double bridges.

The file brings ``bridged``, which makes one.
"""

import numpy as np
from numba import njit
from parts.taker import bridged


@njit(cache=True)
def bridge(tour, start, b, c, d):
    """A double bridge of the tour from position `start` on, cut there and b < c < d places behind."""
    n, place = tour.size, 0
    changed = np.empty(n, dtype=tour.dtype)
    for low, high in ((c, d), (b, c), (0, b), (d, n)):
        for i in range(start + low, start + high):
            changed[place] = tour[i if i < n else i - n]
            place += 1
    return changed


def bridge_repeatedly(env_data, state, bridges):
    """Make `bridges` double bridges on the tour of `state`; the result may be longer."""
    if env_data["num_nodes"] < 8:
        return state
    tour = state.sequence
    for _ in range(bridges):
        tour = bridged(tour, env_data["rng"])
        env_data["budget"].charge(1)
    state.sequence = np.ascontiguousarray(tour, dtype=np.int32)
    return state
