"""Greedy edge: take edges by rising length unless a city would get a third edge or a cycle would close early.

Candidates are the edges to the NEIGHBOURS nearest cities; the fragments that remain are joined by the same
rule over all pairs of their ends. Source: J. L. Bentley, "Fast algorithms for geometric traveling salesman
problems" (1992). Complexity: O(n^2) for the neighbour lists, O(n k log(n k)) for the edges.
Work units: one per accepted edge.
"""

import numpy as np
from parts.fragments import root_of

NEIGHBOURS = 10  # tunable: int 4..20


def candidate_edges(dist, cities, k):
    """Pairs (a, b), a < b, of `cities` with b among a's k nearest or the reverse, by rising length."""
    width = min(k + 1, len(cities))
    rows = np.repeat(np.arange(len(cities)), width)
    columns = np.concatenate([np.argpartition(dist[city, cities], width - 1)[:width] for city in cities])
    a, b = cities[np.minimum(rows, columns)], cities[np.maximum(rows, columns)]
    pairs = np.unique(np.stack([a, b], axis=1)[a != b], axis=0)
    order = np.argsort(dist[pairs[:, 0], pairs[:, 1]], kind="stable")
    return pairs[order].tolist()


def add_edges(pairs, links, parent):
    """Add the pairs that keep all fragments simple paths; returns their number."""
    added = 0
    for a, b in pairs:
        if len(links[a]) < 2 and len(links[b]) < 2:
            root_a, root_b = root_of(parent, a), root_of(parent, b)
            if root_a != root_b:
                parent[root_a] = root_b
                links[a].append(b)
                links[b].append(a)
                added += 1
    return added


def walk(links):
    """Cities along the single path that the links form."""
    start = next((city for city, ends in enumerate(links) if len(ends) < 2), 0)
    path, previous = [start], -1
    while len(path) < len(links):
        city = path[-1]
        following = links[city][0] if links[city][0] != previous else links[city][1]
        path.append(following)
        previous = city
    return path


def run(env_data, state, calc_makespan_fn):
    dist, budget, n = env_data["distance_matrix"], env_data["budget"], env_data["num_nodes"]
    links = [[] for _ in range(n)]
    parent = list(range(n))
    added, k = 0, NEIGHBOURS
    ends = np.arange(n)
    while added < n - 1:
        new = add_edges(candidate_edges(dist, ends, k), links, parent)
        added += new
        budget.charge(new)
        ends = np.array([city for city in range(n) if len(links[city]) < 2])
        k = 2 * k if new else n
    state.sequence = np.array(walk(links), dtype=np.int32)
    return state
