"""Customers that leave their routes and come back elsewhere, on rings."""

from numba import njit


@njit(cache=True)
def rings_length(after, dist):
    """Total length of all rings."""
    n = dist.shape[0]
    total = 0
    for node in range(1, after.size):
        a, b = node if node < n else 0, after[node] if after[node] < n else 0
        total += dist[a, b]
    return total


@njit(cache=True)
def take_out(node, after, before, ring_of, load, demands, dist):
    """Unlink a customer; returns the saving."""
    n = dist.shape[0]
    left, right = before[node], after[node]
    after[left], before[right] = right, left
    load[ring_of[node]] -= demands[node]
    a, b = left if left < n else 0, right if right < n else 0
    return dist[a, node] + dist[node, b] - dist[a, b]


@njit(cache=True)
def put_in(node, left, after, before, ring_of, load, demands):
    """Link a customer behind `left`."""
    right = after[left]
    after[left] = before[right] = node
    before[node], after[node] = left, right
    ring_of[node] = ring_of[left]
    load[ring_of[left]] += demands[node]


@njit(cache=True)
def roomiest_place(node, after, ring_of, load, room, dist, n_rings):
    """The cheapest place of all routes with room, that of an empty route among them; with its growth."""
    n = dist.shape[0]
    best, place = 1 << 60, -1
    has_empty = False
    for ring in range(n_rings):
        left = n + ring
        if load[ring] > room or (after[left] == left and has_empty):
            continue
        has_empty = has_empty or after[left] == left
        while True:
            right = after[left]
            a, b = left if left < n else 0, right if right < n else 0
            growth = dist[a, node] + dist[node, b] - dist[a, b]
            if growth < best:
                best, place = growth, left
            if right >= n:
                break
            left = right
    return place, best
