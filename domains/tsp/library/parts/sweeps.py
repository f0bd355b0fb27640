"""Descents on a tour with neighbour lists and don't-look bits.

The file brings ``sweep``, which tries the moves.
"""

import numpy as np
from parts.cities import nearest_cities
from parts.taker import sweep


def descend_by_sweeps(env_data, state, neighbours):
    """Sweep over the cities of `state` until none has a move to one of its `neighbours` near ones."""
    budget, n = env_data["budget"], env_data["num_nodes"]
    if n < 5:
        return state
    dist = np.array(env_data["distance_matrix"], dtype=np.int32)
    near = nearest_cities(dist, min(neighbours, n - 1))
    tour = np.array(state.sequence, dtype=np.int32)
    pos = np.argsort(tour).astype(np.int32)
    awake = np.ones(n, dtype=np.uint8)
    while awake.any() and not budget.exhausted():
        budget.charge(sweep(tour, pos, dist, near, awake) + 1)
    state.sequence = tour
    return state
