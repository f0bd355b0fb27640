"""Descents on a tour that search again only where something has changed.

The file brings the move, ``improve_city``.

Source: J. L. Bentley, "Fast algorithms for geometric traveling salesman problems" (1992).
"""

import numpy as np
from numba import njit
from parts.cities import read_tour
from parts.taker import improve_city

MOVES_PER_CHUNK = 200


@njit(cache=True)
def sweep(tour, pos, dist, near, awake):
    """Sweep over the cities whose don't-look bits are off until there is none, or MOVES_PER_CHUNK moves are
    made. Returns moves and sweeps, together, and whether there are such cities.
    """
    units, moves, is_going_on = 0, 0, True
    while is_going_on and moves < MOVES_PER_CHUNK:
        for city in range(tour.size):
            if awake[city]:
                if improve_city(city, tour, pos, dist, near, awake) > 0:
                    moves += 1
                else:
                    awake[city] = 0
        units += 1
        is_going_on = awake.any()
    return units + moves, is_going_on


def descend_by_sweeps(env_data, state, neighbours):
    """Sweep over the cities of `state` until none has a move to one of its `neighbours` near ones."""
    budget, n = env_data["budget"], env_data["num_nodes"]
    if n < 5:
        return state
    dist, near, tour, pos = read_tour(env_data, state, neighbours)
    awake, is_going_on = np.ones(n, dtype=np.uint8), True
    while is_going_on and not budget.exhausted():
        units, is_going_on = sweep(tour, pos, dist, near, awake)
        budget.charge(units)
    state.sequence = tour
    return state
