"""Descents that search again only where something has changed.

The file brings the move, ``improve_by_segment_move``.

Source: J. L. Bentley, "Fast algorithms for geometric traveling salesman problems" (1992).
"""

from numba import njit
from parts.taker import improve_by_segment_move


@njit(cache=True)
def sweep(tour, pos, dist, near, awake):
    """Try each city whose don't-look bit is off once; returns the number of moves."""
    moves = 0
    for city in range(tour.size):
        if awake[city]:
            if improve_by_segment_move(city, tour, pos, dist, near, awake) > 0:
                moves += 1
            else:
                awake[city] = 0
    return moves
