"""Rounds of large neighbourhood search on rings: some customers are removed and inserted again.

The file brings ``choose_customers``, who leaves, and ``accepts``, whether the new routes stay.

Source: P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems"
(1998).
"""

import numpy as np
from numba import njit
from parts.reinsertions import put_in, rings_length, roomiest_place, take_out
from parts.rings import read_rings, thread_rings
from parts.routes import distances_and_demands, near_customers
from parts.taker import accepts, choose_customers

CHUNK_ROUNDS = 500


@njit(cache=True)
def nearest_place(node, after, before, ring_of, load, room, dist, near, is_out):
    """Node behind which `node` adds least to the length, beside a near customer on a route whose load
    is at most `room`; -1 when there is none. Returns the growth of the length, too.
    """
    n = dist.shape[0]
    best, place = 1 << 60, -1
    for i in range(near.shape[1]):
        other = near[node, i]
        if is_out[other] or load[ring_of[other]] > room:
            continue
        left, right = before[other], after[other]
        a, b = left if left < n else 0, right if right < n else 0
        growth = dist[node, other] + dist[node, a] - dist[a, other]
        if growth < best:
            best, place = growth, left
        growth = dist[node, other] + dist[node, b] - dist[other, b]
        if growth < best:
            best, place = growth, other
    return place, best


@njit(cache=True)
def make_rounds(
    after,
    before,
    ring_of,
    load,
    demands,
    capacity,
    dist,
    near,
    removed,
    progress,
    lengths,
    best,
    n_rounds,
    rng,
):
    """Make `n_rounds` rounds when the share `progress` of the time is over; each removes up to `removed`.

    lengths = [present, best, at the beginning]; best: successors in the best solution.
    """
    n, n_rings = dist.shape[0], after.size - dist.shape[0]
    chosen, left_of = np.empty(removed, np.int64), np.empty(removed, np.int64)
    is_out = np.zeros(n, np.uint8)
    mean_edge = max(lengths[2] / n, 1e-9)
    for _ in range(n_rounds):
        count = choose_customers(chosen, n, near, rng)
        change = 0
        for i in range(count):
            node = chosen[i]
            left_of[i], is_out[node] = before[node], 1
            change -= take_out(node, after, before, ring_of, load, demands, dist)
        for i in range(count):
            node = chosen[i]
            room = capacity - demands[node]
            left, growth = nearest_place(node, after, before, ring_of, load, room, dist, near, is_out)
            if left < 0:
                left, growth = roomiest_place(node, after, ring_of, load, room, dist, n_rings)
            put_in(node, left, after, before, ring_of, load, demands)
            is_out[node] = 0
            change += growth
        if accepts(change / mean_edge, progress, rng):
            lengths[0] += change
            if lengths[0] < lengths[1]:
                lengths[1] = lengths[0]
                best[:] = after
        else:
            for i in range(count):
                take_out(chosen[i], after, before, ring_of, load, demands, dist)
            for i in range(count - 1, -1, -1):
                put_in(chosen[i], left_of[i], after, before, ring_of, load, demands)


def search_by_removals(env_data, state, near, removed):
    """Make rounds from `state` until the share is spent; the shortest solution is the answer."""
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    if n < 3:
        return state
    dist, demands = env_data["prepared"](distances_and_demands)
    near = env_data["prepared"](near_customers, near)
    removed = min(removed, n - 1)
    after, before, ring_of = (np.empty(2 * n - 1, np.int32) for _ in range(3))
    thread_rings(np.array(state.sequence, dtype=np.int32), after, before, ring_of, n)
    load = np.zeros(n - 1, np.int64)
    np.add.at(load, ring_of[1:n], demands[1:])
    best, lengths = after.copy(), np.full(3, rings_length(after, dist), dtype=np.int64)
    rings = after, before, ring_of, load, demands, env_data["capacity"], dist, near
    while not budget.exhausted():
        make_rounds(*rings, removed, 1.0 - budget.remaining(), lengths, best, CHUNK_ROUNDS, rng)
        budget.charge(CHUNK_ROUNDS)
    state.sequence = read_rings(best, n)
    return state
