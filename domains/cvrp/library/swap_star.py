"""SWAP*: two customers of neighbouring routes change routes, each to its best place there.

Unlike an exchange in place, each of the two may go anywhere in the other's route; the three cheapest places
of every customer make the search of all pairs cheap. A customer may also move alone. Descends to a local
optimum.
Method: SWAP* neighbourhood over pairs of routes that have near customers.
Source: T. Vidal, "Hybrid genetic search for the CVRP: open-source implementation and SWAP* neighborhood",
Computers and Operations Research 140 (2022). Complexity: O(m^2) per pair of routes, m: customers on a route.
Work units: one per chunk.
"""

import numpy as np
from parts.rings import open_rings, read_rings
from parts.swap_star_moves import descend_swap_star

NEAR = 10  # tunable: int 3..40

CHUNK_STEPS = 200_000


def run(env_data, state, calc_makespan_fn):
    budget, n, capacity = env_data["budget"], env_data["num_nodes"], env_data["capacity"]
    dist, demands, near, rings = open_rings(env_data, state, NEAR, 0)
    n_rings = rings[5].size
    star_tested, cursor = np.full(n_rings, -1, np.int64), np.zeros(5, np.int64)
    moves = -1
    while not budget.exhausted():
        if cursor[4] == n_rings:
            if cursor[2] == moves:
                break
            cursor[4] = 0
        if cursor[4] == 0:
            moves = cursor[2]
        descend_swap_star(rings, dist, demands, capacity, 1e6, near, star_tested, cursor, CHUNK_STEPS)
        budget.charge(1)
    state.sequence = read_rings(rings[0], n)
    return state
