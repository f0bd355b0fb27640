"""Sets that merge: each is a tree, known by its root."""

from numba import njit


@njit(cache=True)
def root_of(v, parent):
    """Root of the tree that `v` stands in; paths are halved on the way."""
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v
