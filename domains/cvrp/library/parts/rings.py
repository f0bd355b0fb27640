"""Routes as rings: circular doubly linked lists of customers, each with a depot node of its own.

:func:`thread_rings` and :func:`refresh_ring` explain the arrays.
"""

import numpy as np
from numba import njit
from parts.routes import distances_and_demands, near_customers


@njit(cache=True)
def thread_rings(sequence, after, before, ring_of, n):
    """Thread routes on rings: ring r runs through its customers and back to its own depot node n + r."""
    for node in range(after.size):
        after[node] = before[node] = node
        ring_of[node] = max(node - n, 0)
    last = n
    for i in range(sequence.size):
        node = sequence[i] if sequence[i] > 0 else n + ring_of[last] + 1
        if node > n:
            after[last], before[n + ring_of[last]] = n + ring_of[last], last
        else:
            after[last], before[node], ring_of[node] = node, last, ring_of[last]
        last = node
    after[last], before[n + ring_of[last]] = n + ring_of[last], last


@njit(cache=True)
def read_rings(after, n):
    """The routes on the rings as a sequence of the card's encoding."""
    sequence = np.empty(2 * n, np.int32)
    size = 0
    for depot in range(n, after.size):
        node = after[depot]
        if node < n and size > 0:
            sequence[size] = 0
            size += 1
        while node < n:
            sequence[size] = node
            size += 1
            node = after[node]
    return sequence[:size].copy()


@njit(cache=True)
def refresh_ring(ring, rings, demands):
    """Bring the ring's positions, carried loads and load up to date.

    rings = (after, before, ring_of, place, carried, load, touched): successor, predecessor, ring and position
    of each node, load up to and with it; load of each ring and the number of the move that changed it last.
    """
    after, ring_of, place, carried, load = rings[0], rings[2], rings[3], rings[4], rings[5]
    n = demands.size
    node, at, total = after[n + ring], 1, 0
    while node < n:
        total += demands[node]
        ring_of[node], place[node], carried[node] = ring, at, total
        node, at = after[node], at + 1
    load[ring] = total


@njit(cache=True)
def join(left, right, rings):
    """Make `right` the successor of `left`."""
    rings[0][left] = right
    rings[1][right] = left


@njit(cache=True)
def shift_node(node, left, rings):
    """Take `node` from its place and put it behind `left`."""
    after, before = rings[0], rings[1]
    join(before[node], after[node], rings)
    join(node, after[left], rings)
    join(left, node, rings)


@njit(cache=True)
def overload(load, other_load, moved, capacity):
    """Excess over the capacity of two routes after `moved` units went from the first to the second."""
    return max(load - moved - capacity, 0) + max(other_load + moved - capacity, 0)


@njit(cache=True)
def swap_nodes(u, v, rings):
    """Let two nodes that are not neighbours change places."""
    after, before = rings[0], rings[1]
    left, right, its_left, its_right = before[u], after[u], before[v], after[v]
    join(left, v, rings)
    join(v, right, rings)
    join(its_left, u, rings)
    join(u, its_right, rings)


def new_rings(n, n_rings):
    """Arrays for `n_rings` rings; see refresh_ring."""
    nodes = [np.zeros(n + n_rings, np.int32) for _ in range(4)]
    whole = [np.zeros(size, np.int64) for size in (n + n_rings, n_rings, n_rings)]
    return tuple(nodes + whole)


def open_rings(env_data, state, near, spare):
    """What a search on rings begins with: int32 distances, int64 demands, `near` neighbours of each, rings.

    Up to `spare` of the rings are empty, so that routes can be opened.
    """
    n = env_data["num_nodes"]
    dist, demands = env_data["prepared"](distances_and_demands)
    sequence = np.array(state.sequence, dtype=np.int32)
    n_rings = min(int((sequence == 0).sum()) + 1 + spare, n)
    rings = new_rings(n, n_rings)
    thread_rings(sequence, rings[0], rings[1], rings[2], n)
    for ring in range(n_rings):
        refresh_ring(ring, rings, demands)
    return dist, demands, env_data["prepared"](near_customers, near), rings
