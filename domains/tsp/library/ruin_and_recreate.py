"""Ruin and recreate: take strings of neighbouring cities out and put each back where it costs least.

A ruin removes, around a random city, short strings of the tour through its nearest cities. Recreation goes
through the removed cities in random order and inserts each next to one of its nearest cities in the tour,
passing over a place with probability BLINK. Results are accepted as in simulated annealing; a refused one is
taken back by undoing insertions and removals in reverse order.
Source: J. Christiaens, G. Vanden Berghe, "Slack induction by string removals for vehicle routing problems"
(2020), for one route; G. Schrimpf and others, "Record breaking optimization results using the ruin and
recreate principle" (2000). Complexity: O(removed k) per round. Work units: one per round.
"""

import numpy as np
from numba import njit
from parts.cities import length_of, near_cities

NEIGHBOURS = 15  # tunable: int 6..30
REMOVED = 10  # tunable: int 3..40
STRING = 6  # tunable: int 1..20
BLINK = 0.01  # tunable: float 0.0..0.1
HOT = 0.3  # tunable: float 0.05..1.0
COLD = 0.01  # tunable: float 0.0005..0.05

ROUNDS_PER_CHUNK = 2000


# exchangeable: cooling
@njit(cache=True)
def cooling(remaining):
    """Fraction of the starting temperature to use when the share `remaining` (1 to 0) of the time is left."""
    return (COLD / HOT) ** (1.0 - remaining)


@njit(cache=True)
def take_out(city, after, before, dist, is_out):
    """Unlink `city`; returns the city before it and the saving."""
    left, right = before[city], after[city]
    after[left], before[right] = right, left
    is_out[city] = 1
    return left, dist[left, city] + dist[city, right] - dist[left, right]


@njit(cache=True)
def ruin(after, before, dist, near, is_out, removed, left_of, rng):
    """Remove about REMOVED cities in strings around a random city; returns their number and the saving."""
    n, k = near.shape
    wanted = min(1 + int(rng.random() * 2 * REMOVED), n - 3)
    seed = int(rng.random() * n)
    count, saved = 0, 0
    for i in range(-1, k):
        city = seed if i < 0 else near[seed, i]
        if is_out[city]:
            continue
        size = min(1 + int(rng.random() * STRING), wanted - count)
        for _ in range(int(rng.random() * (size + 1))):
            city = before[city]
        for _ in range(size):
            following = after[city]
            removed[count] = city
            left_of[count], saving = take_out(city, after, before, dist, is_out)
            count += 1
            saved += saving
            city = following
        if count >= wanted:
            break
    return count, saved


# exchangeable: insertion-place
@njit(cache=True)
def insertion_place(city, after, before, dist, near, is_out, blink, rng):
    """City of the tour behind which to insert `city`; -1 when all its near cities are out."""
    best, place = 1 << 60, -1
    for i in range(near.shape[1]):
        other = near[city, i]
        if is_out[other]:
            continue
        for left in (other, before[other]):
            growth = dist[left, city] + dist[city, after[left]] - dist[left, after[left]]
            if growth < best and (place < 0 or rng.random() >= blink):
                best, place = growth, left
    return place


@njit(cache=True)
def rounds(after, before, dist, near, heat, lengths, best, n_rounds, rng):
    """Make `n_rounds` rounds at `heat`; lengths = [current, best], best: successors in the best tour."""
    n = after.size
    removed, left_of, order = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    is_out = np.zeros(n, np.uint8)
    for _ in range(n_rounds):
        count, saved = ruin(after, before, dist, near, is_out, removed, left_of, rng)
        change = -saved
        for i in range(count):
            order[i] = removed[i]
        for i in range(count - 1, 0, -1):
            j = int(rng.random() * (i + 1))
            order[i], order[j] = order[j], order[i]
        for i in range(count):
            city = order[i]
            left = insertion_place(city, after, before, dist, near, is_out, BLINK, rng)
            if left < 0:
                left = int(rng.random() * n)
                while is_out[left]:
                    left = left + 1 if left + 1 < n else 0
            right = after[left]
            change += dist[left, city] + dist[city, right] - dist[left, right]
            after[left], after[city], before[city], before[right] = city, right, left, city
            is_out[city] = 0
        if change < 1 - heat * np.log(1.0 - rng.random()):
            lengths[0] += change
            if lengths[0] < lengths[1]:
                lengths[1] = lengths[0]
                best[:] = after
        else:
            for i in range(count - 1, -1, -1):
                city = order[i]
                left, right = before[city], after[city]
                after[left], before[right] = right, left
            for i in range(count - 1, -1, -1):
                city, left = removed[i], left_of[i]
                right = after[left]
                after[left], after[city], before[city], before[right] = city, right, left, city


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    if n < 8:
        return state
    dist, near = env_data["prepared"](near_cities, NEIGHBOURS)
    tour = np.array(state.sequence, dtype=np.int32)
    after, before = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    after[tour], before[tour] = np.roll(tour, -1), np.roll(tour, 1)
    best = after.copy()
    length = length_of(tour, dist)
    lengths = np.array([length, length])
    start_heat = HOT * length / n
    while not budget.exhausted():
        heat = start_heat * cooling(budget.remaining())
        rounds(after, before, dist, near, heat, lengths, best, ROUNDS_PER_CHUNK, rng)
        budget.charge(ROUNDS_PER_CHUNK)
    city = 0
    for i in range(n):
        tour[i] = city
        city = best[city]
    state.sequence = tour
    return state
