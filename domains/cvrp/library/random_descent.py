"""Random descent: relocations, exchanges and 2-opt moves of near customers, made where nothing gets longer.

A proposal takes a random customer and one of its NEAR nearest: the customer, or a segment that starts with
it, moves beside the other; or it changes places with the other's successor; or the two are joined, on one
route by reversing what lies between them, on two by exchanging what follows the one for the other and what
follows that. Loads are never exceeded. The search stops after PATIENCE proposals without a shorter solution.
Method: first improvement in random order.
Source: J.-Y. Potvin, J.-M. Rousseau, "An exchange heuristic for routeing problems with time windows" (1995),
for 2-opt between routes. Complexity: O(1) per refused proposal, O(n) per accepted one at worst.
Work units: one per 50 proposals.
"""

import numpy as np
from numba import njit
from parts.proposals import open_proposals, reversed_between, try_chunk
from parts.routes import note_places, read_flat

NEAR = 15  # tunable: int 5..40
PATIENCE = 100_000  # tunable: int 10000..5000000


# exchangeable: reconnection
@njit(cache=True)
def reconnect(node, other, flat, place, route_of, load, demands, capacity, dist, limit):
    """Join `node` and `other`: on one route by reversing what lies between them, on two by exchanging what
    follows `node` for `other` and what follows that, if the loads allow it."""
    n = dist.shape[0]
    route, target = route_of[node], route_of[other]
    if route == target:
        return reversed_between(node, other, flat, place, route_of, dist, limit)
    p, q = place[node], place[other]
    a = flat[p + 1] if flat[p + 1] < n else 0
    b = flat[q - 1] if flat[q - 1] < n else 0
    change = dist[node, other] + dist[b, a] - dist[node, a] - dist[b, other]
    if change >= limit:
        return 0, False
    stop, its_stop, given, taken = p + 1, q, 0, 0
    while flat[stop] < n:
        given += demands[flat[stop]]
        stop += 1
    while flat[its_stop] < n:
        taken += demands[flat[its_stop]]
        its_stop += 1
    if load[route] - given + taken > capacity or load[target] - taken + given > capacity:
        return 0, False
    load[route] += taken - given
    load[target] += given - taken
    low, middle, high, last = p + 1, stop, q, its_stop
    if q < p:
        low, middle, high, last = q, its_stop, p + 1, stop
    flat[low:last] = np.concatenate((flat[high:last], flat[middle:high], flat[low:middle]))
    note_places(flat, low, last - 1, place, route_of, n)
    return change, True


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` until PATIENCE proposals brought nothing or the share of the budget is spent."""
    budget, n = env_data["budget"], env_data["num_nodes"]
    if n < 3:
        return state
    row, lengths, best = open_proposals(env_data, state, NEAR)
    while lengths[2] < PATIENCE and not budget.exhausted():
        try_chunk(env_data, row, 0.0, lengths, best)
    state.sequence = read_flat(best, n)
    return state
