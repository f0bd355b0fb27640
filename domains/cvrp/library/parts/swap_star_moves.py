"""The SWAP* neighbourhood on rings: two customers change routes, each to its best place there.

Source: T. Vidal, "Hybrid genetic search for the CVRP: open-source implementation and SWAP* neighborhood"
(2022).
"""

import numpy as np
from numba import njit
from parts.rings import join, overload, refresh_ring


@njit(cache=True)
def three_best_places(node, ring, rings, dist, growths, lefts):
    """The three cheapest insertions of `node` into the ring, cheapest first: growth and node before it."""
    after = rings[0]
    n = dist.shape[0]
    growths[node, :] = 1 << 40
    left = n + ring
    while True:
        right = after[left]
        a, b = left if left < n else 0, right if right < n else 0
        growth = dist[a, node] + dist[node, b] - dist[a, b]
        slot = 3
        while slot > 0 and growths[node, slot - 1] > growth:
            slot -= 1
        if slot < 3:
            for i in range(2, slot, -1):
                growths[node, i], lefts[node, i] = growths[node, i - 1], lefts[node, i - 1]
            growths[node, slot], lefts[node, slot] = growth, left
        if right >= n:
            return
        left = right


@njit(cache=True)
def place_without(node, gone, rings, dist, growths, lefts):
    """Cheapest insertion of `node` into the ring of `gone` once that has left: growth and node before it."""
    after, before = rings[0], rings[1]
    n = dist.shape[0]
    left, right = before[gone], after[gone]
    a, b = left if left < n else 0, right if right < n else 0
    best, place = dist[a, node] + dist[node, b] - dist[a, b], left
    for i in range(3):
        candidate = lefts[node, i]
        if growths[node, i] >= best:
            break
        if candidate != gone and after[candidate] != gone:
            return growths[node, i], candidate
    return best, place


@njit(cache=True)
def swap_star(ring, other, rings, dist, demands, capacity, penalty, growths, lefts, removal):
    """Make the best SWAP* move between two rings: two customers swap routes, each to its best place there.

    A customer may also move alone. Returns the change in cost, 0 where nothing improves.
    """
    after, before, load = rings[0], rings[1], rings[5]
    n = demands.size
    for side in range(2):
        mine, its = (ring, other) if side == 0 else (other, ring)
        node = after[n + mine]
        while node < n:
            a, b = before[node] if before[node] < n else 0, after[node] if after[node] < n else 0
            removal[node] = dist[a, b] - dist[a, node] - dist[node, b]
            three_best_places(node, its, rings, dist, growths, lefts)
            node = after[node]
    here, there = load[ring], load[other]
    now = penalty * overload(here, there, 0, capacity)
    best, best_u, best_v, place_u, place_v = -1e-6, 0, 0, 0, 0
    u = after[n + ring]
    while u < n:
        change = removal[u] + growths[u, 0] - now
        if change < best:
            change += penalty * overload(here, there, demands[u], capacity)
            if change < best:
                best, best_u, best_v, place_u = change, u, 0, lefts[u, 0]
        v = after[n + other]
        while v < n:
            base = removal[u] + removal[v] - now
            if base < best:
                base += penalty * overload(here, there, demands[u] - demands[v], capacity)
            if base < best:
                growth, left = place_without(u, v, rings, dist, growths, lefts)
                its_growth, its_left = place_without(v, u, rings, dist, growths, lefts)
                if base + growth + its_growth < best:
                    best, best_u, best_v = base + growth + its_growth, u, v
                    place_u, place_v = left, its_left
            v = after[v]
        u = after[u]
    v = after[n + other]
    while v < n:
        change = removal[v] + growths[v, 0] - now
        if change < best:
            change += penalty * overload(here, there, -demands[v], capacity)
            if change < best:
                best, best_u, best_v, place_v = change, 0, v, lefts[v, 0]
        v = after[v]
    if best_u == 0 and best_v == 0:
        return 0.0
    if best_u > 0:
        join(before[best_u], after[best_u], rings)
    if best_v > 0:
        join(before[best_v], after[best_v], rings)
    if best_u > 0:
        join(best_u, after[place_u], rings)
        join(place_u, best_u, rings)
    if best_v > 0:
        join(best_v, after[place_v], rings)
        join(place_v, best_v, rings)
    refresh_ring(ring, rings, demands)
    refresh_ring(other, rings, demands)
    return best


@njit(cache=True)
def descend_swap_star(rings, dist, demands, capacity, penalty, near, star_tested, cursor, steps):
    """SWAP* from ring cursor[4] on, with the rings of near customers that changed since the last time.

    Stops behind the last ring or when about `steps` pairs of customers were looked at. Returns the change.
    """
    after, before, ring_of, place, touched = rings[0], rings[1], rings[2], rings[3], rings[6]
    n = demands.size
    growths, lefts = np.empty((n, 3), np.int64), np.empty((n, 3), np.int64)
    removal = np.zeros(n, np.int64)
    n_rings = after.size - n
    is_near = np.zeros(n_rings, np.uint8)
    total = 0.0
    while cursor[4] < n_rings and steps > 0:
        ring = cursor[4]
        cursor[4] += 1
        since, star_tested[ring] = star_tested[ring], cursor[2]
        is_near[:] = 0
        size, node = 0, after[n + ring]
        while node < n:
            for i in range(near.shape[1]):
                is_near[ring_of[near[node, i]]] = 1
            size, node = size + 1, after[node]
        steps -= n_rings
        for other in range(n_rings):
            if other == ring or not is_near[other] or max(touched[ring], touched[other]) <= since:
                continue
            change = swap_star(ring, other, rings, dist, demands, capacity, penalty, growths, lefts, removal)
            looked = 2 * size * max(place[before[n + other]], 1)
            steps -= looked
            cursor[3] += looked
            if change < 0.0:
                total += change
                cursor[1] = 0
                cursor[2] += 1
                touched[ring] = touched[other] = cursor[2]
    return total
