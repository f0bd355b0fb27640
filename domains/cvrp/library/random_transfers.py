"""Random transfers: move a few customers beside near customers of other routes, or swap them with those.

Each of MOVES transfers starts from a random customer near the one chosen first, so that the change stays
local.
Method: random moves of the relocate and exchange neighbourhoods as a kick.
Source: the perturbation of H. R. Lourenco, O. C. Martin, T. Stutzle, "Iterated local search" (2003), over the
moves of I. H. Osman (1993). Complexity: O(MOVES n). Work units: one per transfer.
"""

import numpy as np
from parts.routes import routes_of

MOVES = 4  # tunable: int 1..20
NEAREST = 12  # tunable: int 2..40


def route_with(routes, node):
    """Index of the route that visits `node`."""
    return next(r for r, route in enumerate(routes) if node in route)


# exchangeable: transfer
def transfer(routes, source, target, node, other, demands, capacity, rng):
    """Put `node` of route `source` behind `other` of route `target`, or swap them, if the loads allow it.

    Returns whether something changed.
    """
    demand = sum(int(demands[n]) for n in routes[source])
    load = sum(int(demands[n]) for n in routes[target])
    shift = int(demands[node])
    if load + shift <= capacity and rng.random() < 0.5:
        routes[source].remove(node)
        routes[target].insert(routes[target].index(other) + 1, node)
        return True
    shift -= int(demands[other])
    if load + shift > capacity or demand - shift > capacity:
        return False
    p, q = routes[source].index(node), routes[target].index(other)
    routes[source][p], routes[target][q] = other, node
    return True


def run(env_data, state, calc_makespan_fn):
    dist, demands, n = env_data["dist_matrix"], env_data["demands"], env_data["num_nodes"]
    rng, budget = env_data["rng"], env_data["budget"]
    budget.charge(1)
    if n < 4:
        return state
    routes = routes_of(state.sequence)
    centre = int(rng.integers(1, n))
    near = 1 + np.argsort(dist[centre, 1:], kind="stable")[:NEAREST]
    made = 0
    for _ in range(6 * MOVES):
        node = int(rng.choice(near))
        around = 1 + np.argsort(dist[node, 1:], kind="stable")[1 : NEAREST + 1]
        other = int(rng.choice(around))
        source, target = route_with(routes, node), route_with(routes, other)
        if source == target:
            continue
        if transfer(routes, source, target, node, other, demands, env_data["capacity"], rng):
            made += 1
            budget.charge(1)
        if made == MOVES:
            break
    entries = [node for route in routes if route for node in (0, *route)][1:]
    state.sequence = np.array(entries, dtype=np.int32)
    return state
