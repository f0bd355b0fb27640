"""Descent by (1,2)-swaps: one vertex leaves, two join.

Method: a vertex of the set is replaced by two non-adjacent vertices that have no other neighbour in the set;
free vertices join at once. The vertices of the set are tried in random order until none can be replaced.

Source: D. V. Andrade, M. G. C. Resende, R. F. Werneck, Fast local search for the maximum independent set
problem, 2012.

Complexity: O(m) for one look at every vertex of the set, plus the pairs compared. Work units: one per vertex
looked at.
"""

import numpy as np
from numba import njit

PASSES = 100  # tunable: int 1..1000

CHUNK_WORK = 2_000_000
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


@njit(cache=True)
def attempts(queue, head, adj, first, near, order, place, tight, counts, trail, single, n_attempts, stream):
    """Look at the vertices queue[head:head + n_attempts] that are in the set; returns the number of gains."""
    gains = 0
    for i in range(head, min(head + n_attempts, queue.size)):
        x = queue[i]
        if place[x] < counts[0] and two_improvement(
            x, adj, first, near, order, place, tight, counts, trail, single, stream
        ):
            fill(first, near, order, place, tight, counts, trail, stream)
            gains += 1
    return gains


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` until no (1,2)-swap is left, PASSES looks at the set are done or time is up."""
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_vertices"]
    adj = np.array(env_data["adj"], dtype=np.uint8)
    first, near = neighbour_lists(adj)
    stream = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
    best = np.array(state.sequence, dtype=np.int32)
    order, place, tight = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    counts, trail = np.zeros(4, np.int64), np.zeros(TRAIL, np.int32)
    loaded(best, first, near, order, place, tight, counts, trail)
    fill(first, near, order, place, tight, counts, trail, stream)
    single = np.zeros(n, np.int32)
    n_attempts = max(20, CHUNK_WORK // (20 + 4 * (len(near) // n + 1)))
    for _ in range(PASSES):
        queue, gains, head = rng.permutation(order[: counts[0]]), 0, 0
        while head < queue.size and not budget.exhausted():
            gains += attempts(
                queue, head, adj, first, near, order, place, tight, counts, trail, single, n_attempts, stream
            )
            budget.charge(min(n_attempts, queue.size - head))
            head += n_attempts
        if gains == 0 or head < queue.size:
            break
    best[:] = 0
    best[order[: counts[0]]] = 1
    state.sequence = best
    return state
