"""Tabu search by single flips, with the vertices sorted into buckets by gain."""

import numpy as np
from numba import njit


# exchangeable: tabu-tenure
@njit(cache=True)
def tabu_tenure(n, base, spread, rng):
    """Steps for which a flipped vertex stays: 0 <= tenure <= base + spread."""
    return base + int(rng.random() * (spread + 1))


@njit(cache=True)
def enter(v, place, head, after, before, bucket):
    """Put vertex v at the head of bucket `place`."""
    first = head[place]
    after[v] = first
    before[v] = -1
    if first >= 0:
        before[first] = v
    head[place] = v
    bucket[v] = place


@njit(cache=True)
def leave(v, head, after, before, bucket):
    """Take vertex v out of its bucket."""
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        head[bucket[v]] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]
    bucket[v] = -1


@njit(cache=True)
def tabu_walk(x, gains, best, cuts, free_at, offsets, neighbors, weights, span, base, spread, steps, rng):
    """`steps` flips, each of the best vertex that is free; the heaviest cut met is copied to `best`.

    cuts, int64 (3,): cut of `x`, cut of `best`, number of the step; free_at, int64 (n,): step from which each
    vertex is free. The free vertices lie in buckets by gain, which is at most `span` either way.
    """
    n = x.size
    width = 2 * span // 8192 + 1
    head = np.full(2 * span // width + 1, -1, np.int32)
    after, before = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    bucket, next_free = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    ring = np.full(base + spread + 2, -1, np.int32)
    top = -1
    for v in range(n):
        if free_at[v] > cuts[2]:
            slot = free_at[v] % ring.size
            next_free[v] = ring[slot]
            ring[slot] = v
        else:
            place = (gains[v] + span) // width
            enter(v, place, head, after, before, bucket)
            top = max(top, place)
    is_new = False
    for _ in range(steps):
        slot = cuts[2] % ring.size
        v = ring[slot]
        ring[slot] = -1
        while v >= 0:
            place = (gains[v] + span) // width
            enter(v, place, head, after, before, bucket)
            top = max(top, place)
            v = next_free[v]
        while top >= 0 and head[top] < 0:
            top -= 1
        cuts[2] += 1
        if top < 0:
            continue
        v = head[top]
        gain = gains[v]
        if is_new and gain <= 0:
            best[:] = x
            is_new = False
        leave(v, head, after, before, bucket)
        free_at[v] = cuts[2] + tabu_tenure(n, base, spread, rng)
        slot = free_at[v] % ring.size
        next_free[v] = ring[slot]
        ring[slot] = v
        gains[v] = -gain
        x[v] = -x[v]
        double = 2 * x[v]
        for p in range(offsets[v], offsets[v + 1]):
            u = neighbors[p]
            gains[u] += double * weights[p] * x[u]
            if bucket[u] >= 0:
                place = (gains[u] + span) // width
                leave(u, head, after, before, bucket)
                enter(u, place, head, after, before, bucket)
                top = max(top, place)
        cuts[0] += gain
        if cuts[0] > cuts[1]:
            cuts[1] = cuts[0]
            is_new = True
    if is_new:
        best[:] = x
