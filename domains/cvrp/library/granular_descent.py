"""Granular descent: nine moves within and between routes, tried only between near customers.

Relocation of one customer or two, straight or reversed, exchanges of one or two against one or two, reversal
within a route (2-opt), exchange of route tails, straight or reversed (2-opt*). Pairs are tried again only
when one of their routes has changed.
Method: first-improvement descent over node pairs with neighbour lists.
Source: P. Toth, D. Vigo, "The granular tabu search and its application to the vehicle-routing problem"
(2003); T. Vidal, "Hybrid genetic search for the CVRP: open-source implementation and SWAP* neighborhood"
(2022).
Complexity: O(NEAR) per customer, O(m) per move, m: customers on a route. Work units: one per chunk.
"""

import numpy as np
from parts.granular_moves import descend_granular
from parts.rings import open_rings, read_rings

NEAR = 20  # tunable: int 5..60

CHUNK_PAIRS = 60_000


def run(env_data, state, calc_makespan_fn):
    budget, n, capacity = env_data["budget"], env_data["num_nodes"], env_data["capacity"]
    dist, demands, near, rings = open_rings(env_data, state, NEAR, 1)
    order = env_data["rng"].permutation(np.arange(1, n)).astype(np.int64)
    tested, cursor = np.full(n, -1, np.int64), np.zeros(5, np.int64)
    while cursor[1] < n - 1 and not budget.exhausted():
        descend_granular(order, rings, dist, demands, capacity, 1e6, near, tested, cursor, CHUNK_PAIRS)
        budget.charge(1)
    state.sequence = read_rings(rings[0], n)
    return state
