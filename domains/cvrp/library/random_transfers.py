"""Random transfers: move a few customers beside near customers of other routes, or swap them with those.

Each of MOVES transfers starts from a random customer near the one chosen first, so that the change stays
local.
Method: random moves of the relocate and exchange neighbourhoods as a kick.
Source: the perturbation of H. R. Lourenco, O. C. Martin, T. Stutzle, "Iterated local search" (2003), over the
moves of I. H. Osman (1993). Complexity: O(MOVES n). Work units: one, and one per transfer.
"""

import numpy as np
from numba import njit
from parts.routes import move_block, near_customers, open_row, read_flat, route_loads

MOVES = 4  # tunable: int 1..20
NEAREST = 12  # tunable: int 2..40


# exchangeable: transfer
@njit(cache=True)
def transfer(node, other, flat, place, route_of, load, demands, capacity, luck):
    """Put `node` behind `other`, a customer of another route, if `luck` is below 0.5; else swap the two.

    Returns whether the loads allowed it; `luck` is a random number in [0, 1).
    """
    source, target = route_of[node], route_of[other]
    shift = demands[node]
    if luck < 0.5 and load[target] + shift <= capacity:
        move_block(flat, place[node], 1, place[other] + 1, False, place, route_of, demands.size)
    else:
        shift -= demands[other]
        if load[target] + shift > capacity or load[source] - shift > capacity:
            return False
        p, q = place[node], place[other]
        flat[p], flat[q] = other, node
        place[node], place[other] = q, p
        route_of[node], route_of[other] = target, source
    load[source] -= shift
    load[target] += shift
    return True


@njit(cache=True)
def transfer_near(centre, flat, place, route_of, load, demands, capacity, near, moves, rng):
    """Make up to `moves` transfers of customers near `centre`, itself among them; returns how many."""
    k = near.shape[1]
    made = 0
    for _ in range(6 * moves):
        i = int(rng.random() * (k + 1))
        node = centre if i == k else near[centre, i]
        other = near[node, int(rng.random() * k)]
        luck = rng.random()
        if route_of[node] != route_of[other] and transfer(
            node, other, flat, place, route_of, load, demands, capacity, luck
        ):
            made += 1
            if made == moves:
                break
    return made


def run(env_data, state, calc_makespan_fn):
    """Make MOVES random transfers on the routes of `state`; the result may be longer."""
    n, rng, budget = env_data["num_nodes"], env_data["rng"], env_data["budget"]
    budget.charge(1)
    if n < 4:
        return state
    _dist, demands, flat, place, route_of = open_row(env_data, state)
    near = env_data["prepared"](near_customers, NEAREST)
    load = np.zeros(n, np.int64)
    route_loads(flat, demands, load)
    row = flat, place, route_of, load, demands, env_data["capacity"], near
    budget.charge(transfer_near(int(rng.integers(1, n)), *row, MOVES, rng))
    state.sequence = read_flat(flat, n)
    return state
