"""Or-3opt: move a segment of any length up to SEGMENT, forwards or reversed, next to a near city.

The segment starts or ends in the city at hand and all its lengths are tried for each of the NEIGHBOURS
places, so that most pure three-exchanges with one short segment are covered. Uses don't-look bits and stops
at a local optimum.
Source: the segment-insertion form of 3-opt, S. Lin, "Computer solutions of the traveling salesman problem"
(1965), with I. Or's restriction to short segments (1976).
Complexity: O(n k SEGMENT) per sweep, O(n) per move at worst. Work units: one per move and one per sweep.
"""

import numpy as np
from numba import njit

NEIGHBOURS = 8  # tunable: int 4..16
SEGMENT = 50  # tunable: int 4..150


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
def move_segment(tour, pos, first, size, place, is_reversed):
    """Put the `size` cities from position `first` on between positions `place` and `place` + 1 (cyclically).

    Shifts the cities on the shorter way between the old and the new place.
    """
    n = tour.size
    segment = np.empty(size, tour.dtype)
    for i in range(size):
        segment[i] = tour[(first + i) % n]
    ahead = (place - first - size + 1) % n
    behind = n - size - ahead
    if ahead <= behind:
        for i in range(ahead):
            city = tour[(first + size + i) % n]
            p = (first + i) % n
            tour[p] = city
            pos[city] = p
        start = first + ahead
    else:
        for i in range(behind):
            city = tour[(first - 1 - i) % n]
            p = (first + size - 1 - i) % n
            tour[p] = city
            pos[city] = p
        start = first - behind
    for i in range(size):
        city = segment[size - 1 - i if is_reversed else i]
        p = (start + i) % n
        tour[p] = city
        pos[city] = p


# exchangeable: segment-move-of-city
@njit(cache=True)
def improve_by_segment_move(city, tour, pos, dist, near, awake):
    """Make the best improving move of a segment that ends in `city`; returns its gain or 0."""
    n = tour.size
    p = pos[city]
    best, best_first, best_size, best_place, best_reversed = 0, 0, 0, 0, False
    for is_tail in range(2):
        outer = tour[(p + 1) % n] if is_tail else tour[p - 1]
        for i in range(near.shape[1]):
            other = near[city, i]
            opened = dist[city, outer] - dist[city, other]
            if opened <= 0:
                break
            q = pos[other]
            for goes_behind in range(2):
                place = q if goes_behind else (q - 1) % n
                partner = tour[(q + 1) % n] if goes_behind else tour[q - 1]
                gap = opened + dist[other, partner]
                r = pos[partner]
                if is_tail:
                    longest = min(SEGMENT, (p - q) % n, (p - r) % n, n - 3)
                else:
                    longest = min(SEGMENT, (q - p) % n, (r - p) % n, n - 3)
                for size in range(1, longest + 1):
                    far_end = tour[(p - size + 1) % n] if is_tail else tour[(p + size - 1) % n]
                    beyond = tour[(p - size) % n] if is_tail else tour[(p + size) % n]
                    gain = gap + dist[far_end, beyond] - dist[outer, beyond] - dist[far_end, partner]
                    if gain > best:
                        best, best_size, best_place = gain, size, place
                        best_first = (p - size + 1) % n if is_tail else p
                        best_reversed = goes_behind == is_tail
    if best > 0:
        for i in range(2):
            awake[tour[(best_place + i) % n]] = 1
            awake[tour[(best_first - 1 + i) % n]] = 1
            awake[tour[(best_first + best_size - 1 + i) % n]] = 1
        move_segment(tour, pos, best_first, best_size, best_place, best_reversed)
    return best


@njit(cache=True)
def sweep(tour, pos, dist, near, awake):
    """Try each city whose don't-look bit is off once; returns the number of moves."""
    moves = 0
    for city in range(tour.size):
        if awake[city]:
            if improve_by_segment_move(city, tour, pos, dist, near, awake) > 0:
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
