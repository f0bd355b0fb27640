"""The simplest choices of a large neighbourhood search on bins: in which order items are packed, and whether
a packing stays."""

from numba import njit


# exchangeable: packing-key
@njit(cache=True)
def packing_key(place, volume, rng):
    """Sorting key of an item, smaller: earlier; `place` in its bin, `volume` as a share of a bin's."""
    return rng.random()


# exchangeable: acceptance
@njit(cache=True)
def accepts(loss, progress, rng):
    """Whether a packing stays whose sum of squared fillings is smaller by `loss`; progress: 0 to 1."""
    return loss <= 0.0
