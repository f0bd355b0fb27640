"""Iterated local search on (1,2)-swaps: force vertices in, descend around the change, accept or undo.

Method: usually one vertex is forced in (of PICKS random ones the one that has been outside longest), now and
then several. Vertices of the set near the change are tried for (1,2)-swaps. A smaller set is kept with a
probability that falls with its distance to the current and to the best size, otherwise the moves are undone.

Source: D. V. Andrade, M. G. C. Resende, R. F. Werneck, Fast local search for the maximum independent set
problem, 2012.

Complexity: O(degree^2) per iteration. Work units: one per iteration.
"""

import numpy as np
from numba import njit

PICKS = 4  # tunable: int 1..50
MORE = 0.5  # tunable: float 0.0..1.0

CHUNK_WORK = 2_000_000
TRAIL = 100_000


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


# exchangeable: acceptance
@njit(cache=True)
def is_accepted(size, before, most, ties):
    """Whether a set of `size` replaces one of `before`; `most`: best so far; `ties`: random below 2^31."""
    if size >= before:
        return True
    return ties * (1 + (before - size) * (most - size)) < (1 << 31)


@njit(cache=True)
def enqueue(u, first, near, place, tight, counts, queue, is_queued, head, tail):
    """Queue the vertices of the set whose (1,2)-swaps may be new since u left or joined; returns the tail."""
    for i in range(first[u] - 1, first[u + 1]):
        w = u if i < first[u] else near[i]
        if place[w] < counts[0]:
            x = w
        elif tight[w] == 1:
            x = w
            for j in range(first[w], first[w + 1]):
                if place[near[j]] < counts[0]:
                    x = near[j]
                    break
        else:
            continue
        if not is_queued[x] and tail - head < queue.size:
            is_queued[x] = 1
            queue[tail % queue.size] = x
            tail += 1
    return tail


@njit(cache=True)
def iterations(
    adj,
    first,
    near,
    order,
    place,
    tight,
    counts,
    trail,
    stamp,
    best,
    single,
    queue,
    is_queued,
    n_iterations,
    stream,
):
    """Make `n_iterations`; counts[3]: clock, stamp[v]: when v last left or joined. Copies the best set."""
    n, most = order.size, best.sum()
    for _ in range(n_iterations):
        counts[2] = 0
        counts[3] += 1
        size = counts[0]
        if size >= n:
            return
        forced = 1
        if draw(stream, 2 * size + 1) == 0:
            while forced < size and draw(stream, 1 << 31) < MORE * (1 << 31):
                forced += 1
        for _ in range(forced):
            v = order[counts[0] + draw(stream, n - counts[0])]
            for _ in range(PICKS - 1):
                w = order[counts[0] + draw(stream, n - counts[0])]
                if stamp[w] < stamp[v]:
                    v = w
            force(v, first, near, order, place, tight, counts, trail)
        fill(first, near, order, place, tight, counts, trail, stream)
        head, tail, seen = 0, 0, 0
        while True:
            while seen < min(counts[2], trail.size):
                u = abs(trail[seen]) - 1
                stamp[u] = counts[3]
                tail = enqueue(u, first, near, place, tight, counts, queue, is_queued, head, tail)
                seen += 1
            if head == tail:
                break
            x = queue[head % queue.size]
            head += 1
            is_queued[x] = 0
            if place[x] < counts[0] and two_improvement(
                x, adj, first, near, order, place, tight, counts, trail, single, stream
            ):
                fill(first, near, order, place, tight, counts, trail, stream)
        if counts[0] > most:
            most = counts[0]
            best[:] = 0
            for i in range(most):
                best[order[i]] = 1
        elif not is_accepted(counts[0], size, most, draw(stream, 1 << 31)):
            undo(first, near, order, place, tight, counts, trail)


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_vertices"]
    adj = np.array(env_data["adj"], dtype=np.uint8)
    first, near = neighbour_lists(adj)
    stream = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
    best = np.array(state.sequence, dtype=np.int32)
    order, place, tight = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    counts, trail = np.zeros(4, np.int64), np.zeros(TRAIL, np.int32)
    loaded(best, first, near, order, place, tight, counts, trail)
    fill(first, near, order, place, tight, counts, trail, stream)
    best[:] = 0
    best[order[: counts[0]]] = 1
    stamp, single = np.zeros(n, np.int64), np.zeros(n, np.int32)
    queue, is_queued = np.zeros(n, np.int32), np.zeros(n, np.uint8)
    n_iterations = max(20, CHUNK_WORK // (200 + 40 * (len(near) // n + 1)))
    while not budget.exhausted():
        iterations(
            adj,
            first,
            near,
            order,
            place,
            tight,
            counts,
            trail,
            stamp,
            best,
            single,
            queue,
            is_queued,
            n_iterations,
            stream,
        )
        budget.charge(n_iterations)
    state.sequence = best
    return state
