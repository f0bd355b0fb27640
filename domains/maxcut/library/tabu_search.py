"""One-flip tabu search with buckets of equal gain.

Method: every step flips the best vertex that is not tabu, good or bad; a flipped vertex is tabu for
BASE_TENURE n to (BASE_TENURE + TENURE_SPREAD) n steps. The vertices lie in buckets by gain, so that a step
costs O(degree). After STALL n steps without a heavier cut the search starts again from the best one with KICK
of its vertices flipped.
Source: G. Kochenberger, J. Hao, Z. Lu, H. Wang, F. Glover, "Solving large scale Max Cut problems via tabu
search" (2013); G. Palubeckis, "Application of multistart tabu search to the Max-Cut problem" (2004).
Complexity: O(degree) per step. Work units: one per 100 steps.
"""

import numpy as np
from numba import njit

BASE_TENURE = 0.01  # tunable: float 0.001..0.1
TENURE_SPREAD = 0.02  # tunable: float 0.0..0.2
STALL = 50  # tunable: int 5..500
KICK = 0.1  # tunable: float 0.01..0.5

CHUNK_ARCS = 300_000


@njit(cache=True)
def gains_of(x, offsets, neighbors, weights, gains):
    """Fill in what flipping each vertex adds to the cut of the signs `x`; returns the cut."""
    fourfold = 0
    for v in range(x.size):
        gain = 0
        for p in range(offsets[v], offsets[v + 1]):
            product = x[v] * x[neighbors[p]]
            gain += weights[p] * product
            fourfold += weights[p] * (1 - product)
        gains[v] = gain
    return fourfold // 4


@njit(cache=True)
def flip(v, x, gains, offsets, neighbors, weights):
    """Move vertex v to the other side and update the gains."""
    gains[v] = -gains[v]
    x[v] = -x[v]
    double = 2 * x[v]
    for p in range(offsets[v], offsets[v + 1]):
        u = neighbors[p]
        gains[u] += double * weights[p] * x[u]


@njit(cache=True)
def kick(x, gains, offsets, neighbors, weights, count, rng):
    """Flip `count` random vertices; returns the change of the cut."""
    change = 0
    for _ in range(count):
        v = int(rng.random() * x.size)
        change += gains[v]
        flip(v, x, gains, offsets, neighbors, weights)
    return change


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


def largest_gain(offsets, weights):
    """Largest sum of absolute weights at a vertex: no gain is larger."""
    sums = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.abs(weights.astype(np.int64)))))
    return max(1, int((sums[offsets[1:]] - sums[offsets[:-1]]).max()))


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    offsets, neighbors, weights = env_data["offsets"], env_data["neighbors"], env_data["edge_weights"]
    x, gains = np.array(2 * state.sequence - 1, dtype=np.int32), np.zeros(n, dtype=np.int32)
    best = x.copy()
    best_cut = cut = gains_of(x, offsets, neighbors, weights, gains)
    span = largest_gain(offsets, weights)
    base, spread = max(2, int(BASE_TENURE * n)), max(1, int(TENURE_SPREAD * n))
    steps = max(20, CHUNK_ARCS // (8 + neighbors.size // n))
    cuts, free_at = np.array([cut, best_cut, 0]), np.zeros(n, dtype=np.int64)
    heaviest, found_at = best_cut, 0
    while not budget.exhausted():
        tabu_walk(x, gains, best, cuts, free_at, offsets, neighbors, weights, span, base, spread, steps, rng)
        budget.charge(steps // 100 + 1)
        if cuts[1] > heaviest:
            heaviest, found_at = cuts[1], cuts[2]
        elif cuts[2] - found_at > STALL * n:
            x[:] = best
            cuts[0] = gains_of(x, offsets, neighbors, weights, gains)
            cuts[0] += kick(x, gains, offsets, neighbors, weights, max(2, int(KICK * n)), rng)
            found_at = cuts[2]
    state.sequence = ((best + 1) // 2).astype(np.int32)
    return state
