"""Cities that are near each other, and tours that go from each to a near one."""

import numpy as np
from numba import njit
from parts.taker import next_city


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


def tour_from(start, dist, rng):
    n = len(dist)
    is_open = np.ones(n, dtype=bool)
    tour = np.empty(n, dtype=np.int32)
    city, length = start, 0
    for i in range(n):
        if i:
            following = next_city(dist[city], is_open, rng)
            length += int(dist[city, following])
            city = following
        tour[i] = city
        is_open[city] = False
    return tour, length + int(dist[city, start])
