"""Sequential exchanges of edges on a tour that is held as an array, by the search of Lin and Kernighan.

The old text of each rewritten window goes into a journal, from which a caller can take it back.

Source: S. Lin, B. W. Kernighan, "An effective heuristic algorithm for the traveling-salesman problem" (1973).
"""

from numba import njit

MAX_CUTS = 8


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
def rewrite(k, cuts, rank, order, tour, pos, spare, journal, top):
    """Put the segments into their new order; the longest one stays where it is. Returns the journal's top."""
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
    start = p
    for i in range(filled):
        journal[top + i] = tour[p]
        tour[p] = spare[i]
        pos[spare[i]] = p
        p += 1
        if p == n:
            p = 0
    top += filled
    journal[top] = start
    journal[top + 1] = filled
    return top + 2


@njit(cache=True)
def improve_from(t1, tour, pos, dist, near, breadths, search, spare, journal, top):
    """Look for an improving exchange that removes an edge of t1 and apply the first one found.

    Returns its gain (0: none), the journal's new top and the number of cuts; the touched cities are in
    search[5] and search[6].
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
                    top = rewrite(k, cuts, rank, order, tour, pos, spare, journal, top)
                    return gain - dist[other, t1], top, k
            if level < depth:
                gains[level] = gain
                tried[level] = 0
            else:
                level -= 1
    return 0, top, 0


@njit(cache=True)
def queue_touched(search, k, head, n_queued, queue, waiting):
    """Put the cities that an exchange of k edges touched behind the queue, unless they wait already."""
    for i in range(k):
        for row in range(5, 7):
            touched = search[row, i]
            if waiting[touched] == 0:
                waiting[touched] = 1
                queue[(head + n_queued) % queue.size] = touched
                n_queued += 1
    return n_queued
