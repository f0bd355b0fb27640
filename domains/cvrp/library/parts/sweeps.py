"""Descents on routes in a row.

The file brings ``sweep``, which tries the moves.
"""

import numpy as np
from parts.routes import lay_flat, note_places, read_flat
from parts.taker import sweep


def descend_by_sweeps(env_data, state, steps):
    """Sweep over the nodes of `state`, `steps` steps at a time, until none has a move."""
    budget, n = env_data["budget"], env_data["num_nodes"]
    dist = np.array(env_data["dist_matrix"], dtype=np.int32)
    flat = lay_flat(np.array(state.sequence, dtype=np.int32), n, 0)
    place, route_of = np.zeros(2 * n, np.int32), np.zeros(2 * n, np.int32)
    note_places(flat, 0, flat.size - 1, place, route_of, n)
    cursor = np.zeros(2, np.int64)
    while cursor[1] < n - 1 and not budget.exhausted():
        budget.charge(sweep(flat, place, route_of, dist, cursor, steps))
    state.sequence = read_flat(flat, n)
    return state
