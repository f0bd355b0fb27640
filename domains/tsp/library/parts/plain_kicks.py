"""The simplest choices of an iterated local search: where a tour is cut, where it is searched again, and
which tours stay."""

from numba import njit
from parts.tour_arrays import improve_by_reversal, improve_by_segment_move


# exchangeable: bridge-cuts
@njit(cache=True)
def draw_cuts(cuts, n, rng):
    """Draw where a double bridge cuts a tour of `n` cities.

    cuts: int64 (4,), written: the position in front of which the first segment begins, and how many cities
    behind it the other three begin, by rising number.
    """
    cuts[0] = int(rng.random() * n)
    cuts[1] = 1 + int(rng.random() * (n - 3))
    cuts[2] = cuts[1] + 1 + int(rng.random() * (n - 2 - cuts[1]))
    cuts[3] = cuts[2] + 1 + int(rng.random() * (n - 1 - cuts[2]))


# exchangeable: cities-to-search
@njit(cache=True)
def wake(awake, tour, joints):
    """Mark the cities from which a kicked tour is searched; joints: positions behind its new edges."""
    awake[:] = 1


# exchangeable: acceptance
@njit(cache=True)
def longest_kept(length, progress, rng):
    """Length up to which a new tour replaces one of `length`; progress: 0 to 1."""
    return length


@njit(cache=True)
def improve_city(city, tour, pos, dist, near, awake):
    """Make a 2-opt move at `city` or, where none helps, move a segment that ends in it; the gain or 0."""
    gain = improve_by_reversal(city, tour, pos, dist, near, awake)
    return gain if gain > 0 else improve_by_segment_move(city, tour, pos, dist, near, awake)
