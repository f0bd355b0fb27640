"""Path relinking with tabu search.

Method: a pool of POPULATION cuts. From one of them a path leads to another (mirrored if that is nearer): each
step flips the best vertex in which they still differ. The heaviest cut of the middle part of the path is
improved by EFFORT n steps of one-flip tabu search and replaces the worst of the pool.
Source: Q. Wu, Y. Wang, Z. Lu, J. Hao and others, "A tabu search based hybrid evolutionary algorithm for the
max-cut problem" (2015); Y. Wang, Z. Lu, F. Glover, J. Hao, "Path relinking for unconstrained binary quadratic
programming" (2012).
Complexity: O(d^2 + d degree) per path of d flips. Work units: one per 100 steps and one per path.
"""

import numpy as np
from numba import njit

POPULATION = 10  # tunable: int 3..40
EFFORT = 100  # tunable: int 10..1000
MARGIN = 0.3  # tunable: float 0.05..0.45
BASE_TENURE = 0.01  # tunable: float 0.001..0.1
TENURE_SPREAD = 0.02  # tunable: float 0.0..0.2

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


def search_tabu(x, gains, cut, offsets, neighbors, weights, span, steps, budget, rng):
    """Tabu search of `steps` steps or until the share is spent: the best signs and their cut.

    Changes `x` and `gains`. Work units: one per 100 steps.
    """
    n = x.size
    base, spread = max(2, int(BASE_TENURE * n)), max(1, int(TENURE_SPREAD * n))
    chunk = max(20, CHUNK_ARCS // (8 + neighbors.size // n))
    best, cuts, free_at = x.copy(), np.array([cut, cut, 0]), np.zeros(n, dtype=np.int64)
    while steps > 0:
        part = min(steps, chunk)
        tabu_walk(x, gains, best, cuts, free_at, offsets, neighbors, weights, span, base, spread, part, rng)
        budget.charge(part // 100 + 1)
        steps -= part
        if budget.exhausted():
            break
    return best, int(cuts[1])


def opening(x, population, offsets, neighbors, weights, span, budget, rng):
    """Up to `population` cuts by tabu search, the first from `x`, the others from random signs."""
    n = x.size
    pool, values = [x.copy()], [0]
    gains = np.zeros(n, dtype=np.int32)
    values[0] = gains_of(x, offsets, neighbors, weights, gains)
    while len(pool) <= population and not budget.exhausted():
        start = pool[0].copy() if len(pool) == 1 else (2 * rng.integers(0, 2, n) - 1).astype(np.int32)
        cut = gains_of(start, offsets, neighbors, weights, gains)
        found, value = search_tabu(
            start, gains, cut, offsets, neighbors, weights, span, EFFORT * n, budget, rng
        )
        pool.append(found)
        values.append(value)
    return pool, values


def replace_worst(pool, values, child, value):
    """Put `child` in the place of the worst unless it is worse or the pool holds it (or its mirror image)."""
    worst = int(np.argmin(values))
    if value <= values[worst]:
        return
    for other, its_value in zip(pool, values, strict=True):
        if its_value == value and abs(int(other @ child)) == child.size:
            return
    pool[worst], values[worst] = child, value


@njit(cache=True)
def relink(x, goal, gains, cut, offsets, neighbors, weights, margin, longest, rng):
    """Walk from `x` towards `goal`; `x` becomes the heaviest cut of the middle part. Returns its cut.

    The path ends after `longest` flips at the latest.
    """
    n = x.size
    open_ones = np.empty(n, np.int32)
    left = 0
    for v in range(n):
        if x[v] != goal[v]:
            open_ones[left] = v
            left += 1
    distance = left
    least = max(1, int(margin * distance))
    last = min(distance - least, longest)
    path = np.empty(max(last, 0), np.int32)
    heaviest, length = cut, 0
    for step in range(last):
        place, most, ties = 0, gains[open_ones[0]], 1
        for i in range(1, left):
            gain = gains[open_ones[i]]
            if gain > most:
                place, most, ties = i, gain, 1
            elif gain == most:
                ties += 1
                if rng.random() * ties < 1.0:
                    place = i
        v = open_ones[place]
        left -= 1
        open_ones[place] = open_ones[left]
        cut += gains[v]
        flip(v, x, gains, offsets, neighbors, weights)
        path[step] = v
        if step + 1 >= least and (length == 0 or cut > heaviest):
            heaviest, length = cut, step + 1
    for step in range(last - 1, length - 1, -1):
        flip(path[step], x, gains, offsets, neighbors, weights)
    return heaviest


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    offsets, neighbors, weights = env_data["offsets"], env_data["neighbors"], env_data["edge_weights"]
    x, gains = np.array(2 * state.sequence - 1, dtype=np.int32), np.zeros(n, dtype=np.int32)
    span = largest_gain(offsets, weights)
    pool, values = opening(x, POPULATION, offsets, neighbors, weights, span, budget, rng)
    longest = max(1, min(n, 8_000_000 // n))
    while not budget.exhausted():
        a, b = (int(k) for k in rng.choice(len(pool), 2, replace=False))
        goal = pool[b] if int(pool[a] @ pool[b]) >= 0 else -pool[b]
        child = pool[a].copy()
        cut = gains_of(child, offsets, neighbors, weights, gains)
        cut = relink(child, goal, gains, cut, offsets, neighbors, weights, MARGIN, longest, rng)
        budget.charge(1)
        found, value = search_tabu(
            child, gains, cut, offsets, neighbors, weights, span, EFFORT * n, budget, rng
        )
        replace_worst(pool, values, found, value)
    best = pool[int(np.argmax(values))]
    state.sequence = ((best + 1) // 2).astype(np.int32)
    return state
