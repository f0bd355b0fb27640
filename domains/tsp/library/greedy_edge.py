"""Greedy edge: take edges by rising length unless a city would get a third edge or a cycle would close early.

Candidates are the edges to the NEIGHBOURS nearest cities; the fragments that remain are joined by the same
rule over all pairs of their ends. Source: J. L. Bentley, "Fast algorithms for geometric traveling salesman
problems" (1992). Complexity: O(n^2) for the neighbour lists, O(n k log(n k)) for the edges.
Work units: one per accepted edge.
"""

import numpy as np
from parts.fragments import join, near_pairs

NEIGHBOURS = 10  # tunable: int 4..20


def candidate_edges(dist, cities, k):
    """Pairs (a, b), a < b, of `cities` with b among a's k nearest or the reverse, by rising length."""
    pairs = near_pairs(cities, dist, k)
    order = np.argsort(dist[pairs[:, 0], pairs[:, 1]], kind="stable")
    return pairs[order].tolist()


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
        new = join(candidate_edges(dist, ends, k), links, parent)
        added += new
        budget.charge(new)
        ends = np.array([city for city in range(n) if len(links[city]) < 2])
        k = 2 * k if new else n
    state.sequence = np.array(walk(links), dtype=np.int32)
    return state
