"""Randomised nearest neighbour: go to one of the nearest customers that still fit; best of many tries.

Method: greedy randomised construction with a candidate list by rank.
Source: T. A. Feo, M. G. C. Resende, "Greedy randomized adaptive search procedures" (1995).
Complexity: O(STARTS n^2). Work units: one per start.
"""

import numpy as np

STARTS = 20  # tunable: int 1..100


# exchangeable: next-customer
def next_customer(distances, candidates, rng):
    """The candidate to visit next, given the distances from the current node to all nodes."""
    choices, greed = 3, 0.7
    nearest = candidates[np.argsort(distances[candidates], kind="stable")[:choices]]
    rank = 0
    while rank + 1 < len(nearest) and rng.random() > greed:
        rank += 1
    return int(nearest[rank])


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


def run(env_data, state, calc_makespan_fn):
    dist, rng, budget = env_data["dist_matrix"], env_data["rng"], env_data["budget"]
    best, best_length = None, 0
    for _ in range(STARTS):
        entries, length = routes_from(dist, env_data["demands"], env_data["capacity"], rng)
        budget.charge(1)
        if best is None or length < best_length:
            best, best_length = entries, length
        if budget.exhausted():
            break
    state.sequence = np.array(best, dtype=np.int32)
    return state
