"""Simulated annealing over relocations, exchanges and reversals between near customers.

A proposal takes a random customer and one of its NEAR nearest: the customer, or a segment that starts with
it, moves beside the other; or it changes places with the other's successor; or, on the same route, the part
between them is reversed. Loads are never exceeded. The temperature falls with the share of the budget left,
from HOT to COLD times the mean edge length.
Method: simulated annealing, geometric cooling.
Source: I. H. Osman, "Metastrategy simulated annealing and tabu search algorithms for the vehicle routing
problem" (1993). Complexity: O(1) per refused proposal, O(n) per accepted one at worst.
Work units: one per 50 proposals.
"""

from numba import njit
from parts.acceptance import cooling
from parts.proposals import open_proposals, reversed_between, try_chunk
from parts.routes import read_flat

NEAR = 15  # tunable: int 5..40
HOT = 0.4  # tunable: float 0.05..2.0
COLD = 0.01  # tunable: float 0.001..0.05


# exchangeable: reconnection
@njit(cache=True)
def reconnect(node, other, flat, place, route_of, load, demands, capacity, dist, limit):
    """Join `node` and `other`, if they are on one route, by reversing what lies between them."""
    return reversed_between(node, other, flat, place, route_of, dist, limit)


def run(env_data, state, calc_makespan_fn):
    """Anneal from `state` until the share of the budget is spent."""
    budget, n = env_data["budget"], env_data["num_nodes"]
    if n < 3:
        return state
    row, lengths, best = open_proposals(env_data, state, NEAR)
    start_heat = HOT * lengths[1] / n
    while not budget.exhausted():
        heat = start_heat * cooling(budget.remaining(), COLD / HOT)
        try_chunk(env_data, row, heat, lengths, best)
    state.sequence = read_flat(best, n)
    return state
