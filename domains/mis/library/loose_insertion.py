"""Forced insertion of loose vertices: such as drive few others out join the set, and the rest is filled up.

Method: STRENGTH times, of TRIES random vertices outside the set the one with fewest neighbours in it is
forced in; free vertices join at random after each. The result may be smaller.

Source: D. V. Andrade, M. G. C. Resende, R. F. Werneck, Fast local search for the maximum independent set
problem, 2012 (the perturbation of its iterated local search); A. Grosso, M. Locatelli, W. Pullan, Simple
ingredients leading to very efficient heuristics for the maximum clique problem, 2008 (which vertex joins).

Complexity: O(STRENGTH (TRIES + degree^2)). Work units: one per vertex forced in.
"""

from numba import njit
from parts.independent_set import enter, force, open_set
from parts.xorshift import draw

STRENGTH = 4  # tunable: int 1..100
TRIES = 8  # tunable: int 1..60

TRAIL = 1


# exchangeable: insertion-choice
@njit(cache=True)
def insertion_choice(order, size, tight, ties):
    """The one of TRIES vertices outside the set order[:size] with fewest neighbours in it, of which v has
    tight[v].

    `ties` is a random number below 2^31.
    """
    outside = order.size - size
    best = order[size + ties % outside]
    for i in range(1, min(TRIES, outside)):
        v = order[size + (ties + 7919 * i) % outside]
        if tight[v] < tight[best]:
            best = v
    return best


# exchangeable: completion
@njit(cache=True)
def complete(first, near, order, place, tight, counts, trail, stream):
    """Add free vertices at random until none is left."""
    while counts[1] > 0:
        v = order[counts[0] + draw(stream, counts[1])]
        enter(v, first, near, order, place, tight, counts, trail)


@njit(cache=True)
def disturb_and_fill(first, near, order, place, tight, counts, trail, strength, stream):
    """Force `strength` vertices in, and fill up after each."""
    for _ in range(strength):
        if counts[0] < order.size:
            v = insertion_choice(order, counts[0], tight, draw(stream, 1 << 31))
            force(v, first, near, order, place, tight, counts, trail)
            complete(first, near, order, place, tight, counts, trail, stream)


def run(env_data, state, calc_makespan_fn):
    """Disturb `state` once."""
    _adj, stream, best, lists = open_set(env_data, state, TRAIL)
    order, counts = lists[2], lists[5]
    disturb_and_fill(*lists, STRENGTH, stream)
    env_data["budget"].charge(STRENGTH)
    best[:] = 0
    best[order[: counts[0]]] = 1
    state.sequence = best
    return state
