"""Breakout local search.

Method: descent by single flips, then a perturbation whose strength and kind depend on the history: the jump
has LEAST n flips after a new local optimum, one more each time the search falls back into the same cut, up to
MOST n. With probability exp(-idle rounds / PATIENCE), at least DIRECTED, it is a tabu walk along the best
free flips, else random flips; after PATIENCE idle rounds one strong random jump of MOST n flips.
Source: U. Benlic, J. Hao, "Breakout local search for the max-cut problem" (2013).
Complexity: O(n + m) per round at worst. Work units: one per round.
"""

import numpy as np
from numba import njit

LEAST = 0.01  # tunable: float 0.002..0.05
MOST = 0.1  # tunable: float 0.03..0.4
DIRECTED = 0.8  # tunable: float 0.3..1.0
PATIENCE = 1000  # tunable: int 50..5000
BASE_TENURE = 3  # tunable: int 1..50
TENURE_SPREAD = 0.1  # tunable: float 0.01..0.3

CHUNK_ARCS = 1_000_000


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
def descend(x, gains, offsets, neighbors, weights):
    """Flip vertices that gain until there is none; returns the change of the cut."""
    change = 0
    moved = True
    while moved:
        moved = False
        for v in range(x.size):
            if gains[v] > 0:
                moved = True
                change += gains[v]
                flip(v, x, gains, offsets, neighbors, weights)
    return change


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


# exchangeable: jump-kind
@njit(cache=True)
def is_directed_jump(idle, patience, least_probability, rng):
    """Whether the next jump follows the best free flips, after `idle` rounds without a heavier cut."""
    return rng.random() < max(np.exp(-idle / patience), least_probability)


@njit(cache=True)
def break_out(
    x, gains, best, cuts, history, free_at, offsets, neighbors, weights, span, limits, directed, rounds, rng
):
    """`rounds` rounds of descent and jump. history, int64 (3,): idle rounds, length of jumps, last local cut;
    limits, int64 (5,): least and most flips of a jump, patience, base tenure and its spread.
    """
    for _ in range(rounds):
        cuts[0] += descend(x, gains, offsets, neighbors, weights)
        if cuts[0] > cuts[1]:
            cuts[1] = cuts[0]
            best[:] = x
            history[0] = 0
        else:
            history[0] += 1
        history[1] = min(history[1] + 1, limits[1]) if cuts[0] == history[2] else limits[0]
        history[2] = cuts[0]
        if history[0] > limits[2]:
            history[0] = 0
            cuts[0] += kick(x, gains, offsets, neighbors, weights, limits[1], rng)
        elif is_directed_jump(history[0], limits[2], directed, rng):
            steps, base, spread = history[1], limits[3], limits[4]
            tabu_walk(
                x, gains, best, cuts, free_at, offsets, neighbors, weights, span, base, spread, steps, rng
            )
        else:
            cuts[0] += kick(x, gains, offsets, neighbors, weights, history[1], rng)
            cuts[2] += history[1]


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    offsets, neighbors, weights = env_data["offsets"], env_data["neighbors"], env_data["edge_weights"]
    x, gains = np.array(2 * state.sequence - 1, dtype=np.int32), np.zeros(n, dtype=np.int32)
    best = x.copy()
    best_cut = cut = gains_of(x, offsets, neighbors, weights, gains)
    span = largest_gain(offsets, weights)
    cuts, free_at = np.array([cut, best_cut, 0]), np.zeros(n, dtype=np.int64)
    least = max(2, int(LEAST * n))
    limits = np.array(
        [least, max(least, int(MOST * n)), PATIENCE, BASE_TENURE, max(1, int(TENURE_SPREAD * n))]
    )
    history = np.array([0, least, -1])
    rounds = max(
        1, min(200, CHUNK_ARCS // (12 * n + 2 * span // (2 * span // 8192 + 1) + neighbors.size // 2))
    )
    while not budget.exhausted():
        break_out(
            x,
            gains,
            best,
            cuts,
            history,
            free_at,
            offsets,
            neighbors,
            weights,
            span,
            limits,
            DIRECTED,
            rounds,
            rng,
        )
        budget.charge(rounds)
    state.sequence = ((best + 1) // 2).astype(np.int32)
    return state
