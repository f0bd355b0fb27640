"""Descents that go round the vertices.

The file brings ``improve_rounds``, which tries the moves.
"""

import numpy as np
from parts.gains import gains_of
from parts.taker import improve_rounds


def descend_in_rounds(env_data, state, rounds):
    """Make improving rounds over all vertices, `rounds` at a time, until one changes nothing."""
    budget, n = env_data["budget"], env_data["num_nodes"]
    offsets, neighbors, weights = env_data["offsets"], env_data["neighbors"], env_data["edge_weights"]
    x, gains = np.array(2 * state.sequence - 1, dtype=np.int32), np.zeros(n, dtype=np.int32)
    gains_of(x, offsets, neighbors, weights, gains)
    moved = True
    while moved and not budget.exhausted():
        moved = improve_rounds(x, gains, offsets, neighbors, weights, rounds)
        budget.charge(rounds)
    state.sequence = ((x + 1) // 2).astype(np.int32)
    return state
