"""Savings: start with a return trip from a hub to each city and merge trips by falling saving.

The saving of joining a and b is d(hub, a) + d(hub, b) - SHAPE d(a, b); pairs are those of the neighbour
lists, the trips that remain are joined by the saving over all their ends. The hub is the most central city.
Source: G. Clarke, J. W. Wright, "Scheduling of vehicles from a central depot to a number of delivery points"
(1964). Complexity: O(n^2). Work units: one per merger.
"""

import numpy as np
from parts.fragments import join, near_pairs

NEIGHBOURS = 12  # tunable: int 5..30
SHAPE = 1.0  # tunable: float 0.8..1.5


# exchangeable: hub
def choose_hub(dist, rng):
    """Index of the city that serves as hub."""
    return int(np.argmin(dist.sum(axis=1)))


def ranked_pairs(dist, cities, hub, k):
    """Pairs of `cities`, one among the k nearest of the other, by falling saving."""
    pairs = near_pairs(cities, dist, k)
    a, b = pairs[:, 0], pairs[:, 1]
    saving = dist[hub, a] + dist[hub, b] - SHAPE * dist[a, b]
    return pairs[np.argsort(-saving, kind="stable")].tolist()


def walk(links, hub):
    """The hub and then the cities along the single trip that is left."""
    cities = [city for city in range(len(links)) if city != hub]
    path, previous = [hub], hub
    city = next((c for c in cities if len(links[c]) < 2), hub)
    while len(path) < len(links):
        path.append(city)
        onward = [other for other in links[city] if other != previous]
        previous, city = city, onward[0] if onward else hub
    return path


def run(env_data, state, calc_makespan_fn):
    dist, budget, n = env_data["distance_matrix"], env_data["budget"], env_data["num_nodes"]
    hub = choose_hub(dist, env_data["rng"])
    links = [[] for _ in range(n)]
    parent = list(range(n))
    ends = np.delete(np.arange(n), hub)
    merged, k = 0, NEIGHBOURS
    while merged < n - 2:
        new = join(ranked_pairs(dist, ends, hub, k), links, parent)
        merged += new
        budget.charge(new)
        ends = np.array([city for city in range(n) if city != hub and len(links[city]) < 2])
        k = 2 * k if new else n
    state.sequence = np.array(walk(links, hub), dtype=np.int32)
    return state
