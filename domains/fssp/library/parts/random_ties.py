"""Ties between places, broken at random."""

from numba import njit


# exchangeable: tie-breaking
@njit(cache=True)
def choose_place(job, order, size, times, e, value, rng):
    """A random one of the places 0..size with the least `value`."""
    chosen, ties = 0, 1
    for place in range(1, size + 1):
        if value[place] < value[chosen]:
            chosen, ties = place, 1
        elif value[place] == value[chosen]:
            ties += 1
            if rng.random() * ties < 1.0:
                chosen = place
    return chosen
