"""The best that a search has met."""

from numba import njit


@njit(cache=True)
def keep_least(value, least, sequence, best):
    """Copy `sequence` to `best` if its `value` is below `least`; returns the lower of both."""
    if value < least:
        best[:] = sequence
        return value
    return least
