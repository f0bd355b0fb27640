"""Descents that go round the vertices.

The file brings ``improve_vertex``, which makes a move of a vertex that gains, if there is one.
"""

import numpy as np
from numba import njit
from parts.gains import gains_of
from parts.taker import improve_vertex

ROUNDS_PER_CHUNK = 4  # tunable: int 1..20


@njit(cache=True)
def improve_rounds(x, gains, offsets, neighbors, weights, rounds):
    """Up to `rounds` rounds of improving moves; whether the last one changed something."""
    moved = True
    for _ in range(rounds):
        if not moved:
            return False
        moved = False
        for v in range(x.size):
            if improve_vertex(v, x, gains, offsets, neighbors, weights):
                moved = True
    return moved


def descend_in_rounds(env_data, state):
    """Make improving rounds over all vertices until one changes nothing."""
    budget, n = env_data["budget"], env_data["num_nodes"]
    offsets, neighbors, weights = env_data["offsets"], env_data["neighbors"], env_data["edge_weights"]
    x, gains = np.array(2 * state.sequence - 1, dtype=np.int32), np.zeros(n, dtype=np.int32)
    gains_of(x, offsets, neighbors, weights, gains)
    moved = True
    while moved and not budget.exhausted():
        moved = improve_rounds(x, gains, offsets, neighbors, weights, ROUNDS_PER_CHUNK)
        budget.charge(ROUNDS_PER_CHUNK)
    state.sequence = ((x + 1) // 2).astype(np.int32)
    return state
