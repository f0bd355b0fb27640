"""Orders between two."""

import numpy as np
from numba import njit


@njit(cache=True)
def merge_orders(origin, guide, share, child, rng):
    """Write into `child`, again and again, the first entry missing from it of `origin` or, with probability
    `share`, of `guide`: permutations all. Two entries in the same order in both keep that order.

    Source: C. Bierwirth, A generalized permutation approach to job shop scheduling with genetic algorithms,
    1995.
    """
    n = child.size
    taken = np.zeros(n, np.bool_)
    i = j = 0
    for place in range(n):
        while i < n and taken[origin[i]]:
            i += 1
        while taken[guide[j]]:
            j += 1
        x = guide[j] if rng.random() < share else origin[i]
        taken[x] = True
        child[place] = x
