"""Forced insertion: random vertices join the set, their neighbours leave, and the rest is filled up.

Method: STRENGTH vertices outside the set are forced in one after the other; then free vertices join at
random. The result may be smaller.

Source: D. V. Andrade, M. G. C. Resende, R. F. Werneck, Fast local search for the maximum independent set
problem, 2012 (the perturbation of its iterated local search).

Complexity: O(STRENGTH degree^2). Work units: one per vertex forced in.
"""

import numpy as np
from numba import njit
from parts.independent_set import fill, force, lists_of
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
    budget, rng = env_data["budget"], env_data["rng"]
    adj = np.array(env_data["adj"], dtype=np.uint8)
    stream = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
    best = np.array(state.sequence, dtype=np.int32)
    first, near, order, place, tight, counts, trail = lists_of(adj, best, TRAIL)
    disturb(first, near, order, place, tight, counts, trail, STRENGTH, stream)
    budget.charge(STRENGTH)
    best[:] = 0
    best[order[: counts[0]]] = 1
    state.sequence = best
    return state
