"""Fragments of a tour: pairs of cities that may be joined, and the joints made of them."""

import numpy as np


def near_pairs(cities, dist, k):
    """Pairs (a, b), a < b, of `cities` with b among a's `k` nearest or the reverse."""
    width = min(k + 1, len(cities))
    rows = np.repeat(np.arange(len(cities)), width)
    columns = np.concatenate([np.argpartition(dist[city, cities], width - 1)[:width] for city in cities])
    a, b = cities[np.minimum(rows, columns)], cities[np.maximum(rows, columns)]
    return np.unique(np.stack([a, b], axis=1)[a != b], axis=0)


def root_of(parent, city):
    """The city that stands for the fragment of `city`."""
    while parent[city] != city:
        parent[city] = parent[parent[city]]
        city = parent[city]
    return city


def join(pairs, links, parent):
    """Join the pairs, in their order, that keep all fragments simple paths; returns their number."""
    joined = 0
    for a, b in pairs:
        if len(links[a]) < 2 and len(links[b]) < 2:
            root_a, root_b = root_of(parent, a), root_of(parent, b)
            if root_a != root_b:
                parent[root_a] = root_b
                links[a].append(b)
                links[b].append(a)
                joined += 1
    return joined
