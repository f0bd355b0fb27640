"""Insertion of operations into a partial schedule, where the estimated makespan grows least.

Source: F. Werner, A. Winkler, Insertion techniques for the heuristic solution of the job shop problem, 1995.
"""

import numpy as np
from numba import njit
from parts.schedule import sort_topologically, update_heads, update_tails


@njit(cache=True)
def best_gap(x, first, p, jp, js, ms, c, t):
    """The operation behind which x goes on its machine ("none": to the front), in the partial schedule."""
    n_ops = c.size - 1
    head, tail = c[jp[x]], t[js[x]]
    chosen, value = n_ops, np.int64(2**62)
    before, after = n_ops, first
    can_precede = True
    last_bound = n_ops  # last operation on the machine that may have to precede x
    y = first
    while y != n_ops:
        if c[y] <= head and t[y] >= p[y] + p[x] + tail:
            last_bound = y
        y = ms[y]
    is_open = last_bound == n_ops
    while can_precede:
        if is_open:
            rated = max(head, c[before]) + p[x] + max(tail, t[after])
            if rated < value:
                chosen, value = before, rated
        if after == n_ops:
            break
        is_open = is_open or after == last_bound
        can_precede = not (t[after] <= tail and c[after] >= head + p[x] + p[after])
        before, after = after, ms[after]
    return chosen, value


@njit(cache=True)
def insert_all(ranking, machine, p, jp, js, mp, ms, first, c, t, order):
    """Insert the operations in the order of `ranking`; `first` holds the first one of each machine."""
    n_ops = order.size
    for x in ranking:
        k = machine[x]
        before, value = best_gap(x, first[k], p, jp, js, ms, c, t)
        after = first[k] if before == n_ops else ms[before]
        if value == 2**62:  # only zero times can hide every gap; the topological order always shows one
            before, after = n_ops, first[k]
            seen = False
            for y in order:
                seen = seen or y == x
                if not seen and machine[y] == k and (y == first[k] or mp[y] != n_ops):
                    before, after = y, ms[y]
        mp[x], ms[x] = before, after
        if before == n_ops:
            first[k] = x
        else:
            ms[before] = x
        if after != n_ops:
            mp[after] = x
        sort_topologically(jp, js, mp, ms, order)
        update_heads(order, 0, p, jp, mp, c)
        update_tails(order, n_ops - 1, p, js, ms, t)
