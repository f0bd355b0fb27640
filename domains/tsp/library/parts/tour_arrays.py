"""Moves on a tour that is held as an array with the positions of the cities."""

import numpy as np
from numba import njit
from parts.taker import SEGMENT


@njit(cache=True)
def turn(tour, pos, first, last):
    """Reverse exactly the cyclic run of positions first..last."""
    n = tour.size
    size = last - first + 1 if last >= first else last - first + 1 + n
    for _ in range(size // 2):
        a, b = tour[first], tour[last]
        tour[first], tour[last] = b, a
        pos[b], pos[a] = first, last
        first = first + 1 if first + 1 < n else 0
        last = last - 1 if last > 0 else n - 1


@njit(cache=True)
def reverse(tour, pos, first, last):
    """Reverse the cyclic run of positions first..last, or what lies outside it if that is shorter."""
    n = tour.size
    size = last - first + 1 if last >= first else last - first + 1 + n
    if 2 * size > n:
        first, last = last + 1 if last + 1 < n else 0, first - 1 if first > 0 else n - 1
    if size < n:
        turn(tour, pos, first, last)


@njit(cache=True)
def reverse_between(tour, pos, p, q, side):
    """Reverse what lies between positions p and q, up to q when `side` is 0 and from p when it is 1."""
    n = tour.size
    if side == 0:
        reverse(tour, pos, (p + 1) % n, q)
    else:
        reverse(tour, pos, p, (q - 1) % n)


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
        reverse_between(tour, pos, p, q, best_side)
    return best


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


@njit(cache=True)
def wake_ends(tour, first, size, place, awake):
    """Wake the cities at the edges that :func:`move_segment` removes."""
    n = tour.size
    for i in range(2):
        awake[tour[(place + i) % n]] = 1
        awake[tour[(first - 1 + i) % n]] = 1
        awake[tour[(first + size - 1 + i) % n]] = 1


# exchangeable: segment-move-of-city
@njit(cache=True)
def improve_by_segment_move(city, tour, pos, dist, near, awake):
    """Make the best improving move of a segment that ends in `city`; returns its gain or 0."""
    n = tour.size
    p = pos[city]
    best, best_first, best_size, best_place, best_reversed = 0, 0, 0, 0, False
    for size in range(1, min(SEGMENT, n - 3) + 1):
        for is_tail in range(2):
            first = (p - size + 1) % n if is_tail else p
            far_end = tour[first] if is_tail else tour[(p + size - 1) % n]
            before, behind = tour[first - 1], tour[(first + size) % n]
            city_link = dist[city, behind if is_tail else before]
            far_link = dist[far_end, before if is_tail else behind]
            removed = city_link + far_link - dist[before, behind]
            for i in range(near.shape[1]):
                other = near[city, i]
                if dist[city, other] >= removed:
                    break
                q = pos[other]
                if (q - first) % n < size:
                    continue
                for goes_behind in range(2):
                    place = q if goes_behind else (q - 1) % n
                    partner = tour[(q + 1) % n] if goes_behind else tour[q - 1]
                    if (pos[partner] - first) % n < size:
                        continue
                    gain = removed + dist[other, partner] - dist[city, other] - dist[far_end, partner]
                    if gain > best:
                        best, best_first, best_size, best_place = gain, first, size, place
                        best_reversed = goes_behind == is_tail
    if best > 0:
        wake_ends(tour, best_first, best_size, best_place, awake)
        move_segment(tour, pos, best_first, best_size, best_place, best_reversed)
    return best
