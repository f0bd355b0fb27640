"""Forced insertion: random vertices join the set, their neighbours leave, and the rest is filled up.

Method: STRENGTH vertices outside the set are forced in one after the other; then free vertices join at
random. The result may be smaller.

Source: D. V. Andrade, M. G. C. Resende, R. F. Werneck, Fast local search for the maximum independent set
problem, 2012 (the perturbation of its iterated local search).

Complexity: O(STRENGTH degree^2). Work units: one per vertex forced in.
"""

from numba import njit
from parts.independent_set import fill, force, open_set
from parts.xorshift import draw

STRENGTH = 4  # tunable: int 1..100

TRAIL = 1


# exchangeable: insertion-choice
@njit(cache=True)
def insertion_choice(order, size, tight, ties):
    """The vertex to force in; order[:size] is the set, tight[v] the number of neighbours of v in it.

    `ties` is a random number below 2^31.
    """
    return order[size + ties % (order.size - size)]


@njit(cache=True)
def disturb(first, near, order, place, tight, counts, trail, strength, stream):
    """Force `strength` vertices in and fill up."""
    for _ in range(strength):
        if counts[0] < order.size:
            v = insertion_choice(order, counts[0], tight, draw(stream, 1 << 31))
            force(v, first, near, order, place, tight, counts, trail)
    fill(first, near, order, place, tight, counts, trail, stream)


def run(env_data, state, calc_makespan_fn):
    """Disturb `state` once."""
    _adj, stream, best, lists = open_set(env_data, state, TRAIL)
    order, counts = lists[2], lists[5]
    disturb(*lists, STRENGTH, stream)
    env_data["budget"].charge(STRENGTH)
    best[:] = 0
    best[order[: counts[0]]] = 1
    state.sequence = best
    return state
