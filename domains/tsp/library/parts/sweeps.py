"""Descents on a tour that search again only where something has changed.

The file brings the move, ``improve_city``.

Source: J. L. Bentley, "Fast algorithms for geometric traveling salesman problems" (1992).
"""

import numpy as np
from numba import njit
from parts.cities import read_tour
from parts.taker import improve_city


@njit(cache=True)
def sweep(tour, pos, dist, near, awake):
    """Try each city whose don't-look bit is off once; returns the number of moves."""
    moves = 0
    for city in range(tour.size):
        if awake[city]:
            if improve_city(city, tour, pos, dist, near, awake) > 0:
                moves += 1
            else:
                awake[city] = 0
    return moves


def descend_by_sweeps(env_data, state, neighbours):
    """Sweep over the cities of `state` until none has a move to one of its `neighbours` near ones."""
    budget, n = env_data["budget"], env_data["num_nodes"]
    if n < 5:
        return state
    dist, near, tour, pos = read_tour(env_data, state, neighbours)
    awake = np.ones(n, dtype=np.uint8)
    while awake.any() and not budget.exhausted():
        budget.charge(sweep(tour, pos, dist, near, awake) + 1)
    state.sequence = tour
    return state
