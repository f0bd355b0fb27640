"""Acceptance of longer tours by searches that cool down."""

from numba import njit


# exchangeable: cooling
@njit(cache=True)
def cooling(remaining):
    """Fraction of the starting temperature to use when the share `remaining` (1 to 0) of the time is left."""
    return remaining
