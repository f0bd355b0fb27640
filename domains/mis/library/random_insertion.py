"""Forced insertion: random vertices join the set, their neighbours leave, and the rest is filled up.

Method: STRENGTH vertices outside the set are forced in one after the other; then free vertices join at
random. The result may be smaller.

Source: D. V. Andrade, M. G. C. Resende, R. F. Werneck, Fast local search for the maximum independent set
problem, 2012 (the perturbation of its iterated local search).

Complexity: O(STRENGTH degree^2). Work units: one per vertex forced in.
"""

import numpy as np
from numba import njit

STRENGTH = 4  # tunable: int 1..100

TRAIL = 1


@njit(cache=True)
def draw(stream, bound):
    """Next number on 0 .. bound - 1 of the xorshift generator whose state is stream[0]."""
    x = stream[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    stream[0] = x
    return (np.int64(x >> np.uint64(33)) * bound) >> 31


@njit(cache=True)
def neighbour_lists(adj):
    """Neighbours of vertex v at first[v] .. first[v + 1] - 1 of the second array."""
    n = adj.shape[0]
    first = np.zeros(n + 1, np.int64)
    for u in range(n):
        degree = 0
        for v in range(n):
            degree += adj[u, v]
        first[u + 1] = first[u] + degree
    near = np.empty(first[n], np.int32)
    for u in range(n):
        at = first[u]
        for v in range(n):
            if adj[u, v]:
                near[at] = v
                at += 1
    return first, near


@njit(cache=True)
def move_to(order, place, v, at):
    """Swap v with the vertex at position `at` of `order`."""
    u = order[at]
    order[place[v]], place[u] = u, place[v]
    order[at], place[v] = v, at


@njit(cache=True)
def enter(v, first, near, order, place, tight, counts, trail):
    """Free vertex v joins the set.

    order = [set | free | others] with place[order[i]] = i; tight[v]: neighbours of v in the set; counts =
    [size, free vertices, moves on the trail]; the trail keeps v + 1 for entering and -v - 1 for leaving.
    """
    move_to(order, place, v, counts[0])
    counts[0] += 1
    counts[1] -= 1
    for i in range(first[v], first[v + 1]):
        u = near[i]
        if tight[u] == 0:
            counts[1] -= 1
            move_to(order, place, u, counts[0] + counts[1])
        tight[u] += 1
    if counts[2] < trail.size:
        trail[counts[2]] = v + 1
    counts[2] += 1


@njit(cache=True)
def leave(v, first, near, order, place, tight, counts, trail):
    """Vertex v of the set leaves it and is free; see enter."""
    counts[0] -= 1
    counts[1] += 1
    move_to(order, place, v, counts[0])
    for i in range(first[v], first[v + 1]):
        u = near[i]
        tight[u] -= 1
        if tight[u] == 0:
            move_to(order, place, u, counts[0] + counts[1])
            counts[1] += 1
    if counts[2] < trail.size:
        trail[counts[2]] = -v - 1
    counts[2] += 1


@njit(cache=True)
def force(v, first, near, order, place, tight, counts, trail):
    """Vertex v joins the set; its neighbours leave."""
    if place[v] < counts[0]:
        return
    for i in range(first[v], first[v + 1]):
        if tight[v] == 0:
            break
        if place[near[i]] < counts[0]:
            leave(near[i], first, near, order, place, tight, counts, trail)
    enter(v, first, near, order, place, tight, counts, trail)


@njit(cache=True)
def fill(first, near, order, place, tight, counts, trail, stream):
    """Free vertices join at random until none is left."""
    while counts[1] > 0:
        v = order[counts[0] + draw(stream, counts[1])]
        enter(v, first, near, order, place, tight, counts, trail)


@njit(cache=True)
def loaded(sequence, first, near, order, place, tight, counts, trail):
    """Set up the arrays of enter for the set given by the 0/1 vector `sequence`."""
    for v in range(sequence.size):
        order[v] = place[v] = v
        tight[v] = 0
    counts[0], counts[1] = 0, sequence.size
    for v in range(sequence.size):
        if sequence[v]:
            enter(v, first, near, order, place, tight, counts, trail)
    counts[2] = 0


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
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_vertices"]
    adj = np.array(env_data["adj"], dtype=np.uint8)
    first, near = neighbour_lists(adj)
    stream = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
    best = np.array(state.sequence, dtype=np.int32)
    order, place, tight = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    counts, trail = np.zeros(4, np.int64), np.zeros(TRAIL, np.int32)
    loaded(best, first, near, order, place, tight, counts, trail)
    disturb(first, near, order, place, tight, counts, trail, STRENGTH, stream)
    budget.charge(STRENGTH)
    best[:] = 0
    best[order[: counts[0]]] = 1
    state.sequence = best
    return state
