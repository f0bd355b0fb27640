"""Customers: which are near, where they lie, and routes that go from each to a near one."""

import numpy as np
from numba import njit
from parts.taker import next_customer


# exchangeable: nearest-neighbour-lists
@njit(cache=True)
def nearest_customers(dist, k):
    """The k nearest other customers of each customer by rising distance: int32 (n, k); row 0 is unused."""
    n = dist.shape[0]
    near = np.zeros((n, k), np.int32)
    far = np.empty(k, np.int64)
    for node in range(1, n):
        found = 0
        for other in range(1, n):
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


# exchangeable: planar-embedding
def planar_points(dist):
    """Points on the plane whose distances approximate the edge lengths, the depot at the origin: (n, 2).

    Classical scaling: the two leading eigenvectors of the Gram matrix, by subspace iteration.
    """
    exact = dist.astype(np.float64)
    gram = 0.5 * (exact[0][:, None] ** 2 + exact[0][None, :] ** 2 - exact**2)
    index = np.arange(len(dist))
    basis = np.stack([np.cos(index), np.sin(1.7 * index)], axis=1)
    for _ in range(25):
        basis, _ = np.linalg.qr(gram @ basis)
    values, vectors = np.linalg.eigh(basis.T @ gram @ basis)
    return basis @ vectors @ np.diag(np.sqrt(np.maximum(values, 0.0)))


def routes_from(dist, demands, capacity, rng):
    """Customers route by route, routes separated by 0; and the total length."""
    n = len(dist)
    is_open = np.ones(n, dtype=bool)
    is_open[0] = False
    entries, node, free, length = [], 0, capacity, 0
    while is_open.any():
        candidates = np.flatnonzero(is_open & (demands <= free))
        if len(candidates) == 0:
            length += int(dist[node, 0])
            entries.append(0)
            node, free = 0, capacity
            continue
        following = next_customer(dist[node], candidates, rng)
        length += int(dist[node, following])
        is_open[following] = False
        free -= int(demands[following])
        entries.append(following)
        node = following
    return entries, length + int(dist[node, 0])


def build_routes(env_data, state, starts):
    """Give `state` the shortest of at most `starts` solutions by :func:`routes_from`."""
    dist, rng, budget = env_data["dist_matrix"], env_data["rng"], env_data["budget"]
    best, best_length = None, 0
    for _ in range(starts):
        entries, length = routes_from(dist, env_data["demands"], env_data["capacity"], rng)
        budget.charge(1)
        if best is None or length < best_length:
            best, best_length = entries, length
        if budget.exhausted():
            break
    state.sequence = np.array(best, dtype=np.int32)
    return state
