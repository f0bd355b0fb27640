"""Acceptance of worse solutions by searches that cool down."""

from numba import njit


# exchangeable: cooling
@njit(cache=True)
def cooling(remaining, ratio):
    """Fraction of the starting value when the share `remaining` (1 to 0) is left; `ratio` at the end."""
    return ratio ** (1.0 - remaining)
