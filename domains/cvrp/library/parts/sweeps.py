"""Descents on routes in a row.

The file brings ``improve_customer``, which makes a move of a customer that gains, if there is one.
"""

import numpy as np
from numba import njit
from parts.routes import distances_and_demands, lay_flat, note_places, read_flat
from parts.taker import improve_customer


@njit(cache=True)
def sweep(flat, place, route_of, dist, cursor, steps):
    """Go on from customer cursor[0] until `steps` places were seen or none of all customers has a move.

    cursor[1]: customers in turn without one. Returns the customers looked at.
    """
    n = dist.shape[0]
    looked = 0
    while steps > 0 and cursor[1] < n - 1:
        gain, seen = improve_customer(1 + cursor[0], flat, place, route_of, dist)
        cursor[1] = 0 if gain > 0 else cursor[1] + 1
        cursor[0] = (cursor[0] + 1) % (n - 1)
        steps -= seen + 1
        looked += 1
    return looked


def descend_by_sweeps(env_data, state, steps):
    """Sweep over the nodes of `state`, `steps` steps at a time, until none has a move."""
    budget, n = env_data["budget"], env_data["num_nodes"]
    dist, _ = env_data["prepared"](distances_and_demands)
    flat = lay_flat(np.array(state.sequence, dtype=np.int32), n, 0)
    place, route_of = np.zeros(2 * n, np.int32), np.zeros(2 * n, np.int32)
    note_places(flat, 0, flat.size - 1, place, route_of, n)
    cursor = np.zeros(2, np.int64)
    while cursor[1] < n - 1 and not budget.exhausted():
        budget.charge(sweep(flat, place, route_of, dist, cursor, steps))
    state.sequence = read_flat(flat, n)
    return state
