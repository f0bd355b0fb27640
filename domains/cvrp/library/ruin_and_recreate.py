"""Slack induction by string removals: ruin a few neighbouring routes, recreate them greedily with blinks.

A ruin takes strings of consecutive customers out of routes near a random customer, so that capacity comes
free where it can be used. The removed customers return in random order, by demand, or by distance from the
depot, each to the cheapest place beside one of its near customers that has room, passing over a place with
probability BLINK. Results are accepted as in simulated annealing; a refused one is undone step by step. The
temperature falls from HOT to COLD times the mean edge length; on small instances it does so several times,
each time over about CYCLE rounds per customer.
Method: ruin and recreate with simulated annealing over rings of linked customers, granular insertion.
Source: J. Christiaens, G. Vanden Berghe, "Slack induction by string removals for vehicle routing problems",
Transportation Science 54 (2020); G. Schrimpf and others, "Record breaking optimization results using the ruin
and recreate principle" (2000). Complexity: O(REMOVED NEAR) per round, whatever the number of customers.
Work units: one per round.
"""

import numpy as np
from numba import njit
from parts.acceptance import cooling
from parts.reinsertions import put_in, rings_length, roomiest_place, take_out
from parts.rings import read_rings, thread_rings
from parts.routes import distances_and_demands, near_customers

NEAR = 30  # tunable: int 10..60
REMOVED = 10  # tunable: int 4..25
STRING = 10  # tunable: int 4..30
SPLIT = 0.5  # tunable: float 0.0..1.0
BLINK = 0.01  # tunable: float 0.0..0.1
HOT = 0.4  # tunable: float 0.05..1.0
COLD = 0.02  # tunable: float 0.001..0.1
CYCLE = 6000  # tunable: int 500..20000
CYCLES = 10  # tunable: int 1..30

CHUNK_STEPS = 100_000
TRIAL_CHUNKS = 20


# exchangeable: insertion-order
@njit(cache=True)
def insertion_order(removed, dist, demands, rng):
    """Sort `removed` in place into the order of reinsertion."""
    size = removed.size
    rule = rng.random() * 11.0
    keys = np.empty(size)
    for i in range(size):
        if rule < 4.0:
            keys[i] = rng.random()
        elif rule < 8.0:
            keys[i] = -demands[removed[i]]
        elif rule < 10.0:
            keys[i] = -dist[0, removed[i]]
        else:
            keys[i] = dist[0, removed[i]]
    for i in range(1, size):
        key, node = keys[i], removed[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j], removed[j] = keys[j - 1], removed[j - 1]
            j -= 1
        keys[j], removed[j] = key, node


@njit(cache=True)
def string_start(node, length, after, before, n, rng):
    """First customer of a random string of `length` customers of the route that contains `node`."""
    back, ahead = 0, 0
    left, right = before[node], after[node]
    while left < n and back < length - 1:
        back += 1
        left = before[left]
    while right < n and ahead < length - 1:
        ahead += 1
        right = after[right]
    least = length - 1 - ahead
    steps = least + int(rng.random() * (back - least + 1))
    for _ in range(steps):
        node = before[node]
    return node


@njit(cache=True)
def route_size(node, after, n):
    """Customers on the ring of `node`."""
    size, other = 1, after[node]
    while other != node:
        size += other < n
        other = after[other]
    return size


@njit(cache=True)
def ruin(after, before, ring_of, load, demands, dist, near, mean_size, is_out, removed, left_of, rng):
    """Remove strings from routes round a random customer; returns the number of removed and the saving."""
    n = dist.shape[0]
    longest = max(min(float(STRING), mean_size), 1.0)
    n_strings = int(1.0 + rng.random() * max(4.0 * REMOVED / (1.0 + longest) - 1.0, 1.0))
    ruined = np.empty(n_strings, np.int64)
    seed = 1 + int(rng.random() * (n - 1))
    count, saved, n_ruined = 0, 0, 0
    for i in range(-1, near.shape[1]):
        node = seed if i < 0 else near[seed, i]
        if n_ruined == n_strings:
            break
        is_fresh = is_out[node] == 0
        for j in range(n_ruined):
            is_fresh = is_fresh and ruined[j] != ring_of[node]
        if not is_fresh:
            continue
        ruined[n_ruined] = ring_of[node]
        n_ruined += 1
        size = route_size(node, after, n)
        length = int(1.0 + rng.random() * min(float(size), longest))
        kept, keep_from = 0, length
        if length > 1 and length < size and rng.random() < SPLIT:
            kept = 1
            while length + kept < size and rng.random() < BLINK:
                kept += 1
            keep_from = 1 + int(rng.random() * (length - 1))
        node = string_start(node, length + kept, after, before, n, rng)
        for j in range(length + kept):
            following = after[node]
            if j < keep_from or j >= keep_from + kept:
                removed[count], left_of[count] = node, before[node]
                saved += take_out(node, after, before, ring_of, load, demands, dist)
                is_out[node] = 1
                count += 1
            node = following
    return count, saved


# exchangeable: insertion-place
@njit(cache=True)
def insertion_place(node, after, before, ring_of, load, room, dist, near, is_out, blink, rng):
    """Node behind which to insert `node`, beside one of its near customers whose route's load is at most
    `room`; -1 when there is none. Returns the growth of the length, too.
    """
    n = dist.shape[0]
    best, place = 1 << 60, -1
    for i in range(near.shape[1]):
        other = near[node, i]
        if is_out[other] or load[ring_of[other]] > room:
            continue
        to_other = dist[node, other]
        left, right = before[other], after[other]
        a, b = left if left < n else 0, right if right < n else 0
        growth = to_other + dist[node, a] - dist[a, other]
        if growth < best and rng.random() >= blink:
            best, place = growth, left
        growth = to_other + dist[node, b] - dist[other, b]
        if growth < best and rng.random() >= blink:
            best, place = growth, other
    return place, best


@njit(cache=True)
def rounds(after, before, ring_of, load, demands, capacity, dist, near, heat, lengths, best, n_rounds, rng):
    """Make `n_rounds` rounds at `heat`; lengths = [current, best], best: successors in the best solution."""
    n = dist.shape[0]
    n_rings = after.size - n
    removed, left_of = np.empty(n, np.int64), np.empty(n, np.int64)
    is_out = np.zeros(n, np.uint8)
    n_used = 0
    for ring in range(n_rings):
        n_used += after[n + ring] != n + ring
    mean_size = (n - 1) / n_used
    for _ in range(n_rounds):
        count, saved = ruin(
            after, before, ring_of, load, demands, dist, near, mean_size, is_out, removed, left_of, rng
        )
        order = removed[:count].copy()
        insertion_order(order, dist, demands, rng)
        change = -saved
        for i in range(count):
            node = order[i]
            room = capacity - demands[node]
            left, growth = insertion_place(
                node, after, before, ring_of, load, room, dist, near, is_out, BLINK, rng
            )
            if left < 0:
                left, growth = roomiest_place(node, after, ring_of, load, room, dist, n_rings)
            put_in(node, left, after, before, ring_of, load, demands)
            is_out[node] = 0
            change += growth
        if change <= 0 or change < -heat * np.log(1.0 - rng.random()):
            lengths[0] += change
            if lengths[0] < lengths[1]:
                lengths[1] = lengths[0]
                best[:] = after
        else:
            for i in range(count - 1, -1, -1):
                take_out(order[i], after, before, ring_of, load, demands, dist)
            for i in range(count - 1, -1, -1):
                put_in(removed[i], left_of[i], after, before, ring_of, load, demands)


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    if n < 3:
        return state
    capacity = env_data["capacity"]
    dist, demands = env_data["prepared"](distances_and_demands)
    near = env_data["prepared"](near_customers, NEAR)
    sequence = np.array(state.sequence, dtype=np.int32)
    after, before, ring_of = (np.empty(2 * n - 1, np.int32) for _ in range(3))
    thread_rings(sequence, after, before, ring_of, n)
    load = np.zeros(n - 1, np.int64)
    np.add.at(load, ring_of[1:n], demands[1:])
    best = after.copy()
    lengths = np.full(2, rings_length(after, dist), dtype=np.int64)
    start_heat = HOT * lengths[1] / n
    chunks, cycles, n_rounds = 0, 1, max(5, CHUNK_STEPS // 100)
    while not budget.exhausted():
        spent = 1.0 - budget.remaining()
        if chunks == TRIAL_CHUNKS and spent > 0.0:
            cycles = min(max(int(chunks * n_rounds / spent / (CYCLE * n)), 1), CYCLES)
        chunks += 1
        heat = start_heat * cooling(1.0 - spent * cycles % 1.0, COLD / HOT)
        rings = (after, before, ring_of, load)
        rounds(*rings, demands, capacity, dist, near, heat, lengths, best, n_rounds, rng)
        budget.charge(n_rounds)
    state.sequence = read_rings(best, n)
    return state
