"""Moves of single entries, in place."""

from numba import njit


@njit(cache=True)
def move_entry(order, source, destination):
    """Move the entry at place `source` to place `destination`; those between close up."""
    x = order[source]
    step = 1 if destination > source else -1
    for i in range(source, destination, step):
        order[i] = order[i + step]
    order[destination] = x
