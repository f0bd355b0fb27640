"""Nodes that are near each other."""

import numpy as np
from numba import njit


# exchangeable: nearest-neighbour-lists
@njit(cache=True)
def nearest_nodes(dist, first, k):
    """The k nearest other nodes of each node by rising distance: int32 (n, k).

    Nodes before `first` are nobody's neighbours; their rows are 0.
    """
    n = dist.shape[0]
    near = np.zeros((n, k), np.int32)
    far = np.empty(k, np.int64)
    for node in range(first, n):
        found = 0
        for other in range(first, n):
            d = dist[node, other]
            if other == node or k == 0 or (found == k and d >= far[k - 1]):
                continue
            if found < k:
                found += 1
            slot = found - 1
            while slot > 0 and far[slot - 1] > d:
                far[slot] = far[slot - 1]
                near[node, slot] = near[node, slot - 1]
                slot -= 1
            far[slot] = d
            near[node, slot] = other
    return near
