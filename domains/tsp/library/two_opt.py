"""2-opt with neighbour lists and don't-look bits: replace two edges by two shorter ones until none can be.

A reversal turns the shorter side of the tour. Stops at a local optimum.
Source: G. A. Croes, "A method for solving traveling-salesman problems" (1958); J. L. Bentley, "Fast
algorithms for geometric traveling salesman problems" (1992). Complexity: O(n k) per sweep, O(n) per move at
worst. Work units: one per move and one per sweep.
"""

import numpy as np
from numba import njit

NEIGHBOURS = 12  # tunable: int 5..20


# exchangeable: nearest-neighbour-lists
@njit(cache=True)
def nearest_cities(dist, k):
    """The k nearest other cities of each city by rising distance: int32 (n, k)."""
    n = dist.shape[0]
    near = np.empty((n, k), np.int32)
    far = np.empty(k, np.int64)
    for city in range(n):
        found = 0
        for other in range(n):
            d = dist[city, other]
            if other == city or (found == k and d >= far[k - 1]):
                continue
            if found < k:
                found += 1
            slot = found - 1
            while slot > 0 and far[slot - 1] > d:
                far[slot] = far[slot - 1]
                near[city, slot] = near[city, slot - 1]
                slot -= 1
            far[slot] = d
            near[city, slot] = other
    return near


@njit(cache=True)
def reverse(tour, pos, first, last):
    """Reverse the cyclic run of positions first..last, or what lies outside it if that is shorter."""
    n = tour.size
    size = last - first + 1 if last >= first else last - first + 1 + n
    if 2 * size > n:
        first, last, size = last + 1, first - 1, n - size
    first, last = first % n, last % n
    for _ in range(size // 2):
        a, b = tour[first], tour[last]
        tour[first], tour[last] = b, a
        pos[b], pos[a] = first, last
        first = first + 1 if first + 1 < n else 0
        last = last - 1 if last > 0 else n - 1


@njit(cache=True)
def improve_by_reversal(city, tour, pos, dist, near, awake):
    """Make the best improving 2-opt move that gives `city` a new neighbour; returns its gain or 0."""
    n = tour.size
    best, best_side, best_other = 0, 0, 0
    for side in range(2):
        p = pos[city]
        after = tour[p + 1 if p + 1 < n else 0] if side == 0 else tour[p - 1]
        old = dist[city, after]
        for i in range(near.shape[1]):
            other = near[city, i]
            if dist[city, other] >= old:
                break
            q = pos[other]
            other_after = tour[q + 1 if q + 1 < n else 0] if side == 0 else tour[q - 1]
            gain = old + dist[other, other_after] - dist[city, other] - dist[after, other_after]
            if gain > best:
                best, best_side, best_other = gain, side, other
    if best > 0:
        p, q = pos[city], pos[best_other]
        step = 1 if best_side == 0 else -1
        awake[city] = awake[best_other] = 1
        awake[tour[(p + step) % n]] = awake[tour[(q + step) % n]] = 1
        if best_side == 0:
            reverse(tour, pos, (p + 1) % n, q)
        else:
            reverse(tour, pos, p, (q - 1) % n)
    return best


@njit(cache=True)
def sweep(tour, pos, dist, near, awake):
    """Try each city whose don't-look bit is off once; returns the number of moves."""
    moves = 0
    for city in range(tour.size):
        if awake[city]:
            if improve_by_reversal(city, tour, pos, dist, near, awake) > 0:
                moves += 1
            else:
                awake[city] = 0
    return moves


def run(env_data, state, calc_makespan_fn):
    budget, n = env_data["budget"], env_data["num_nodes"]
    if n < 5:
        return state
    dist = np.array(env_data["distance_matrix"], dtype=np.int32)
    near = nearest_cities(dist, min(NEIGHBOURS, n - 1))
    tour = np.array(state.sequence, dtype=np.int32)
    pos = np.argsort(tour).astype(np.int32)
    awake = np.ones(n, dtype=np.uint8)
    while awake.any() and not budget.exhausted():
        budget.charge(sweep(tour, pos, dist, near, awake) + 1)
    state.sequence = tour
    return state
