"""The move of descents by segment moves alone; the file brings ``improve_by_segment_move``."""

from numba import njit
from parts.taker import improve_by_segment_move


@njit(cache=True)
def improve_city(city, tour, pos, dist, near, awake):
    """Move a segment that ends in `city` if that shortens the tour; returns the gain or 0."""
    return improve_by_segment_move(city, tour, pos, dist, near, awake)
