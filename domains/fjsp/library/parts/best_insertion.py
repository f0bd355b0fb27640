"""Insertion of one operation where the longest path through it is shortest.

Source: M. Mastrolilli, L. M. Gambardella, "Effective neighbourhood functions for the flexible job shop
problem" (2000).
"""

import numpy as np
from numba import njit
from parts.schedule import put


@njit(cache=True)
def insert_best(v, shop, options, links, first, work, rng):
    """Put v, which no machine has, where the longest path through it is shortest; the makespan."""
    mp, ms, c, t = links[0], links[1], links[4], links[5]
    n_ops = mp.size - 1
    head, tail = c[shop[1, v]], t[shop[2, v]]
    best, ties, k, time, place = np.int64(2**60), 0, np.int32(0), np.int32(0), np.int32(n_ops)
    for e in range(shop[4, v], shop[4, v + 1]):
        before, after = np.int32(n_ops), first[options[0, e]]
        while after != n_ops and t[after] > tail and c[after] <= head:
            before, after = after, ms[after]
        while before == n_ops or c[before] <= head or t[before] > tail:
            through = max(head, c[before]) + options[1, e] + max(tail, t[after])
            ties = ties + 1 if through == best else 1
            if through < best or (through == best and rng.random() * ties < 1.0):
                best, k, time, place = through, options[0, e], options[1, e], before
            if after == n_ops:
                break
            before, after = after, ms[after]
    return put(v, place, k, time, shop, links, first, work)
