"""Lin-Kernighan descent: sequential exchanges of up to five edges until no city has an improving one.

A search step looks depth-first for an improving sequential exchange of at most ``len(BREADTHS) + 1`` edges:
t1-t2 leaves, t2-t3 enters, t3-t4 leaves, and so on, as long as the partial gain stays positive. Both tour
neighbours are tried as t4, t6, ...; that the exchange closes to one tour is checked on the sorted cuts when
closing it would pay. Applying a move rewrites all but its longest segment. Only cities at changed edges are
searched again (don't-look bits kept as a queue).

Source: S. Lin, B. W. Kernighan, "An effective heuristic algorithm for the traveling-salesman problem" (1973);
K. Helsgaun, "General k-opt submoves for the Lin-Kernighan TSP heuristic" (2009).
Complexity: O(n prod(BREADTHS)) search steps per pass, O(n) rewriting per move at worst.
Work units: one per move and one per call.
"""

import numpy as np
from numba import njit

NEIGHBOURS = 10  # tunable: int 5..14
BREADTH_1 = 8  # tunable: int 3..10
BREADTH_2 = 5  # tunable: int 2..10
BREADTH_3 = 3  # tunable: int 0..6
BREADTH_4 = 2  # tunable: int 0..5

MAX_CUTS = 8
MOVES_PER_CHUNK = 1000


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
def closes_to_tour(k, cuts, odd_is_behind, rank, mate, order):
    """Whether the exchange leaves one cycle; `order` gets its segments, ~s where segment s runs backwards.

    Cut i lies behind position cuts[i]; segment s runs from behind the cut of rank s - 1 to that of rank s.
    Slot 2 r is the city before the cut of rank r, slot 2 r + 1 the city behind it.
    """
    for i in range(k):
        r = 0
        for j in range(k):
            if cuts[j] < cuts[i]:
                r += 1
        rank[i] = r
    for i in range(k):
        j = i + 1 if i + 1 < k else 0
        a = 2 * rank[i] + 1 - odd_is_behind[i]
        b = 2 * rank[j] + odd_is_behind[j]
        mate[a] = b
        mate[b] = a
    slot = 1
    for i in range(k):
        if slot & 1:
            s = (slot >> 1) + 1
            if s == k:
                s = 0
            order[i] = s
            slot = mate[2 * s]
        else:
            s = slot >> 1
            order[i] = ~s
            slot = mate[2 * (s - 1 if s > 0 else k - 1) + 1]
        if slot == 1:
            return i == k - 1
    return False


@njit(cache=True)
def rewrite(k, cuts, rank, order, tour, pos, spare):
    """Put the segments into their new order; the longest one stays where it is."""
    n = tour.size
    sorted_cuts = spare[n : n + MAX_CUTS]
    for i in range(k):
        sorted_cuts[rank[i]] = cuts[i]
    longest, length = 0, 0
    for s in range(k):
        size = sorted_cuts[s] - sorted_cuts[s - 1] if s else sorted_cuts[0] - sorted_cuts[k - 1] + n
        if size > length:
            longest, length = s, size
    at = 0
    while order[at] != longest and order[at] != ~longest:
        at += 1
    step = 1 if order[at] >= 0 else -1
    filled = 0
    for i in range(1, k):
        code = order[(at + step * i + k) % k]
        s = code if code >= 0 else ~code
        first = sorted_cuts[s - 1] + 1 if s else sorted_cuts[k - 1] + 1 - n
        last = sorted_cuts[s]
        if (code >= 0) == (step > 0):
            for p in range(first, last + 1):
                spare[filled] = tour[p]
                filled += 1
        else:
            for p in range(last, first - 1, -1):
                spare[filled] = tour[p]
                filled += 1
    start = sorted_cuts[longest] + 1
    p = start if start < n else start - n
    for i in range(filled):
        tour[p] = spare[i]
        pos[spare[i]] = p
        p += 1
        if p == n:
            p = 0


@njit(cache=True)
def improve_from(t1, tour, pos, dist, near, breadths, search, spare):
    """Look for an improving exchange that removes an edge of t1 and apply the first one found.

    Returns its gain (0: none) and the number of cuts; the touched cities are in search[5] and search[6].
    """
    n = tour.size
    cuts, odd_is_behind, rank = search[0], search[1], search[2]
    mate, order, odd, even, tried, gains = search[3], search[4], search[5], search[6], search[7], search[8]
    depth = breadths.size
    odd[0] = t1
    for side in range(2):
        p = pos[t1]
        if side == 0:
            t2 = tour[p + 1 if p + 1 < n else 0]
            cuts[0] = p
        else:
            t2 = tour[p - 1]
            cuts[0] = pos[t2]
        odd_is_behind[0] = side
        even[0] = t2
        gains[0] = dist[t1, t2]
        tried[0] = 0
        level = 0
        while level >= 0:
            choice = tried[level]
            if choice >= 2 * breadths[level]:
                level -= 1
                continue
            tried[level] = choice + 1
            end = even[level]
            city = near[end, choice >> 1]
            gain = gains[level] - dist[end, city]
            if gain <= 0:
                level -= 1
                continue
            p = pos[city]
            apart = p - pos[end]
            if apart == 1 or apart == -1 or apart == n - 1 or apart == 1 - n:
                continue
            if choice & 1:
                other = tour[p - 1]
                p = p - 1 if p > 0 else n - 1
                odd_is_behind[level + 1] = 1
            else:
                other = tour[p + 1 if p + 1 < n else 0]
                odd_is_behind[level + 1] = 0
            is_cut = False
            for i in range(level + 1):
                if cuts[i] == p:
                    is_cut = True
            if is_cut:
                continue
            gain += dist[city, other]
            level += 1
            cuts[level] = p
            odd[level] = city
            even[level] = other
            if other != t1 and gain > dist[other, t1]:
                k = level + 1
                if closes_to_tour(k, cuts, odd_is_behind, rank, mate, order):
                    rewrite(k, cuts, rank, order, tour, pos, spare)
                    return gain - dist[other, t1], k
            if level < depth:
                gains[level] = gain
                tried[level] = 0
            else:
                level -= 1
    return 0, 0


@njit(cache=True)
def descend(tour, pos, dist, near, breadths, queue, waiting, n_queued, max_moves):
    """Work on the queued cities, rotated to the queue's front; returns the moves and the queue's length."""
    n = tour.size
    search = np.zeros((9, 2 * MAX_CUTS), np.int64)
    spare = np.empty(n + MAX_CUTS, np.int32)
    head = 0
    moves = 0
    while n_queued > 0 and moves < max_moves:
        city = queue[head]
        _, k = improve_from(city, tour, pos, dist, near, breadths, search, spare)
        if k == 0:
            head = head + 1 if head + 1 < n else 0
            n_queued -= 1
            waiting[city] = 0
            continue
        moves += 1
        for i in range(k):
            for row in range(5, 7):
                touched = search[row, i]
                if waiting[touched] == 0:
                    waiting[touched] = 1
                    queue[(head + n_queued) % n] = touched
                    n_queued += 1
    if head > 0:
        for i in range(n):
            spare[i] = queue[(head + i) % n]
        queue[:] = spare[:n]
    return moves, n_queued


def run(env_data, state, calc_makespan_fn):
    budget, n = env_data["budget"], env_data["num_nodes"]
    if n < 8:
        return state
    dist = np.array(env_data["distance_matrix"], dtype=np.int32)
    near = nearest_cities(dist, min(NEIGHBOURS, n - 1))
    widths = [width for width in (BREADTH_1, BREADTH_2, BREADTH_3, BREADTH_4) if width > 0]
    breadths = np.minimum(np.array(widths, dtype=np.int64), near.shape[1])
    tour = np.array(state.sequence, dtype=np.int32)
    pos = np.argsort(tour).astype(np.int32)
    queue, waiting, n_queued = tour.copy(), np.ones(n, dtype=np.uint8), n
    while n_queued > 0 and not budget.exhausted():
        moves, n_queued = descend(tour, pos, dist, near, breadths, queue, waiting, n_queued, MOVES_PER_CHUNK)
        budget.charge(moves + 1)
    state.sequence = tour
    return state
