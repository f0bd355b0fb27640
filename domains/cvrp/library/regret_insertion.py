"""Regret insertion: fill all routes at once, always with the customer that would lose most by waiting.

Routes start with customers far from the depot and from each other, as many as the demands need. A customer's
regret is the growth of its second best route less that of its best; one that fits nowhere opens a route.
Method: parallel insertion by regret.
Source: J.-Y. Potvin, J.-M. Rousseau, "A parallel route building algorithm for the vehicle routing and
scheduling problem with time windows" (1993). Complexity: O(n^2 + n m) per insertion at worst, m: customers on
a route. Work units: one per 50 insertions.
"""

import numpy as np
from numba import njit
from parts.rings import read_rings, thread_rings

REGRET = 1.0  # tunable: float 0.0..2.0
GREED = 1.0  # tunable: float 0.0..2.0

CHUNK_INSERTIONS = 50


@njit(cache=True)
def spread_seeds(dist, count):
    """`count` customers: the farthest from the depot, then always the farthest from depot and seeds."""
    n = dist.shape[0]
    seeds, away = np.empty(count, np.int64), dist[0].astype(np.int64)
    away[0] = -1
    for i in range(count):
        seeds[i] = np.argmax(away)
        for node in range(n):
            away[node] = min(away[node], dist[seeds[i], node])
        for j in range(i + 1):
            away[seeds[j]] = -1
    return seeds


@njit(cache=True)
def price_route(ring, growth, place, is_in, after, load, demands, capacity, dist):
    """Cheapest insertion into one route of each customer that is not in yet and fits."""
    n = dist.shape[0]
    for node in range(1, n):
        growth[node, ring] = 1 << 40
        if is_in[node] or load[ring] + demands[node] > capacity:
            continue
        left = n + ring
        while True:
            right = after[left]
            a, b = left if left < n else 0, right if right < n else 0
            price = dist[a, node] + dist[node, b] - dist[a, b]
            if price < growth[node, ring]:
                growth[node, ring], place[node, ring] = price, left
            if right >= n:
                break
            left = right


# exchangeable: insertion-score
@njit(cache=True)
def insertion_score(best, second, to_depot, regret, greed):
    """How urgent a customer is, given the growths in its two best routes (2^40: none)."""
    return regret * (min(second, best + 2 * to_depot) - best) - greed * best


@njit(cache=True)
def insert_some(count, growth, place, is_in, rings, load, used, demands, capacity, dist):
    """Insert up to `count` customers; used[0]: number of open routes. Returns how many went in."""
    after, before, ring_of = rings
    n = dist.shape[0]
    for done in range(count):
        chosen, chosen_ring, top = 0, -1, -np.inf
        for node in range(1, n):
            if is_in[node]:
                continue
            best, second, ring = 1 << 40, 1 << 40, -1
            for r in range(used[0]):
                if growth[node, r] < best:
                    best, second, ring = growth[node, r], best, r
                elif growth[node, r] < second:
                    second = growth[node, r]
            score = np.inf
            if ring >= 0:
                score = insertion_score(best, second, dist[0, node], REGRET, GREED)
            if chosen == 0 or score > top:
                chosen, chosen_ring, top = node, ring, score
        if chosen == 0:
            return done
        ring = chosen_ring
        left = place[chosen, ring] if ring >= 0 else n + used[0]
        if ring < 0:
            ring = used[0]
            used[0] += 1
        right = after[left]
        after[left] = before[right] = chosen
        before[chosen], after[chosen], ring_of[chosen] = left, right, ring
        load[ring] += demands[chosen]
        is_in[chosen] = 1
        price_route(ring, growth, place, is_in, after, load, demands, capacity, dist)
    return count


def run(env_data, state, calc_makespan_fn):
    budget, n, capacity = env_data["budget"], env_data["num_nodes"], env_data["capacity"]
    dist = np.array(env_data["dist_matrix"], dtype=np.int32)
    demands = np.array(env_data["demands"], dtype=np.int64)
    least = max(-(-int(demands.sum()) // capacity), 1)
    seeds = spread_seeds(dist, min(least, n - 1))
    n_rings = min(3 * least + 2, n - 1)  # two routes opened for want of room carry more than one's capacity
    rings = tuple(np.zeros(n + n_rings, np.int32) for _ in range(3))
    entries = [node for seed in seeds.tolist() for node in (0, seed)][1:]
    thread_rings(np.array(entries, dtype=np.int32), *rings, n)
    load, is_in = np.zeros(n_rings, np.int64), np.zeros(n, np.uint8)
    load[: len(seeds)], is_in[seeds] = demands[seeds], 1
    growth, place = np.full((n, n_rings), 1 << 40, np.int64), np.zeros((n, n_rings), np.int32)
    used = np.array([len(seeds)], dtype=np.int64)
    for ring in range(len(seeds)):
        price_route(ring, growth, place, is_in, rings[0], load, demands, capacity, dist)
    left = n - 1 - len(seeds)
    while left > 0:
        left -= insert_some(
            CHUNK_INSERTIONS, growth, place, is_in, rings, load, used, demands, capacity, dist
        )
        budget.charge(1)
    state.sequence = read_rings(rings[0], n)
    return state
