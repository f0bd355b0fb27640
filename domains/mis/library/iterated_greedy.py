"""Iterated greedy: part of the set is taken out and rebuilt by a randomised minimum-degree rule.

Method: a share RUIN of the set leaves, either at random or around a random vertex. Free vertices join
again; of SAMPLE random ones the one with fewest free neighbours is taken. A smaller result is undone.

Source: R. Ruiz, T. Stutzle, A simple and effective iterated greedy algorithm, 2007; G. Schrimpf and others,
Record breaking optimization results using the ruin and recreate principle, 2000.

Complexity: O(RUIN k SAMPLE degree) per round, k: size of the set. Work units: one per round.
"""

import numpy as np
from numba import njit

RUIN = 0.15  # tunable: float 0.01..0.9
SAMPLE = 4  # tunable: int 1..50

CHUNK_WORK = 4_000_000
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


# exchangeable: recreation-choice
@njit(cache=True)
def recreation_choice(order, place, size, free, first, near, sample, ties):
    """The next of the vertices order[size:size + free] to join: of `sample`, one with fewest free neighbours.

    `ties` is a random number below 2^31.
    """
    best, choice = 1 << 60, order[size]
    for k in range(min(sample, free)):
        v = order[size + (ties + 7919 * k) % free]
        crossed = 0
        for i in range(first[v], first[v + 1]):
            crossed += size <= place[near[i]] < size + free
        if crossed < best:
            best, choice = crossed, v
    return choice


# exchangeable: acceptance
@njit(cache=True)
def is_accepted(size, before, most, ties):
    """Whether a set of `size` replaces one of `before`; `most`: best so far; `ties`: random below 2^31."""
    return size >= before


@njit(cache=True)
def rounds(first, near, order, place, tight, counts, trail, best, n_rounds, stream):
    """Make `n_rounds` rounds; a round whose set is not accepted is undone. Copies larger sets into `best`."""
    n, most = order.size, best.sum()
    for _ in range(n_rounds):
        counts[2] = 0
        size = counts[0]
        wanted = 1 + int(RUIN * size)
        centre = draw(stream, n)
        reach = first[centre + 1] - first[centre]
        is_local = draw(stream, 2) == 0 and reach > 0
        for _ in range(wanted):
            if counts[0] == 0:
                break
            v = order[draw(stream, counts[0])]
            if is_local:
                near_centre = near[first[centre] + draw(stream, reach)]
                if place[near_centre] < counts[0]:
                    v = near_centre
            leave(v, first, near, order, place, tight, counts, trail)
        while counts[1] > 0:
            v = recreation_choice(
                order, place, counts[0], counts[1], first, near, SAMPLE, draw(stream, 1 << 31)
            )
            enter(v, first, near, order, place, tight, counts, trail)
        if counts[0] > most:
            most = counts[0]
            best[:] = 0
            for i in range(most):
                best[order[i]] = 1
        elif not is_accepted(counts[0], size, most, draw(stream, 1 << 31)):
            undo(first, near, order, place, tight, counts, trail)


def run(env_data, state, calc_makespan_fn):
    """Rebuild parts of `state` until the share of the budget is spent."""
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_vertices"]
    adj = np.array(env_data["adj"], dtype=np.uint8)
    first, near = neighbour_lists(adj)
    stream = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
    best = np.array(state.sequence, dtype=np.int32)
    order, place, tight = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    counts, trail = np.zeros(4, np.int64), np.zeros(TRAIL, np.int32)
    loaded(best, first, near, order, place, tight, counts, trail)
    n_rounds = max(5, CHUNK_WORK // (200 + 20 * (len(near) + n)))
    while not budget.exhausted():
        rounds(first, near, order, place, tight, counts, trail, best, n_rounds, stream)
        budget.charge(n_rounds)
    state.sequence = best
    return state
