"""An independent set as an ordered list of vertices: those in it, the free ones, the others.

:func:`enter` explains the arrays.

Source: D. V. Andrade, M. G. C. Resende, R. F. Werneck, Fast local search for the maximum independent set
problem, 2012.
"""

import numpy as np
from numba import njit
from parts.xorshift import draw


@njit(cache=True)
def first_neighbours(adj):
    """Where the neighbours of each vertex begin in a list of all, and where the list ends: int64 (n + 1,)."""
    n = adj.shape[0]
    first = np.zeros(n + 1, np.int64)
    for u in range(n):
        degree = 0
        for v in range(n):
            degree += adj[u, v]
        first[u + 1] = first[u] + degree
    return first


@njit(cache=True)
def neighbour_lists(adj):
    """Neighbours of vertex v at first[v] .. first[v + 1] - 1 of the second array."""
    n = adj.shape[0]
    first = first_neighbours(adj)
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
    [size, free vertices, moves on the trail, the operator's own, moves ever made]; the trail keeps v + 1 for
    entering and -v - 1 for leaving.
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
    counts[4] += 1


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
    counts[4] += 1


@njit(cache=True)
def undo(first, near, order, place, tight, counts, trail):
    """Take the moves on the trail back; False, and nothing done, when it did not hold them all."""
    if counts[2] > trail.size:
        return False
    for i in range(counts[2] - 1, -1, -1):
        if trail[i] > 0:
            leave(trail[i] - 1, first, near, order, place, tight, counts, trail)
        else:
            enter(-trail[i] - 1, first, near, order, place, tight, counts, trail)
    counts[2] = 0
    return True


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
def two_improvement(x, adj, first, near, order, place, tight, counts, trail, single, stream):
    """Replace x by two non-adjacent vertices whose only neighbour in the set it is, if there are such."""
    found = 0
    for i in range(first[x], first[x + 1]):
        if tight[near[i]] == 1:
            single[found] = near[i]
            found += 1
    start = draw(stream, found) if found > 1 else 0
    for k in range(found):
        v = single[k + start - (found if k + start >= found else 0)]
        for i in range(found):
            w = single[i]
            if w != v and not adj[v, w]:
                leave(x, first, near, order, place, tight, counts, trail)
                enter(v, first, near, order, place, tight, counts, trail)
                enter(w, first, near, order, place, tight, counts, trail)
                return True
    return False


def read_graph(env_data):
    """Adjacency, uint8, and :func:`neighbour_lists` of it."""
    adj = np.array(env_data["adj"], dtype=np.uint8)
    return adj, *neighbour_lists(adj)


def lists_of(first, near, sequence, n_kept):
    """Arrays of :func:`enter` for the set of the 0/1 vector `sequence`; the trail has `n_kept` places."""
    n = sequence.size
    order, place, tight = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    counts, trail = np.zeros(5, np.int64), np.zeros(n_kept, np.int32)
    loaded(sequence, first, near, order, place, tight, counts, trail)
    return first, near, order, place, tight, counts, trail


@njit(cache=True)
def copy_set(order, size, best):
    """Write the 0/1 vector of the set order[:size] into `best`; returns the size."""
    best[:] = 0
    for i in range(size):
        best[order[i]] = 1
    return size


def open_set(env_data, state, trail):
    """What a search begins with: adjacency, random stream, a copy of the set, and :func:`lists_of` it.

    `trail` is how many moves the trail holds.
    """
    adj, first, near = env_data["prepared"](read_graph)
    stream = np.array([env_data["rng"].integers(1, 2**62)], dtype=np.uint64)
    best = np.array(state.sequence, dtype=np.int32)
    return adj, stream, best, lists_of(first, near, best, trail)
