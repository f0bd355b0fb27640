"""Customers: where they lie, and routes that go from each to a near one."""

import numpy as np
from parts.taker import next_customer


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
