"""Relocate and exchange between routes: give a customer to another route, or swap two customers.

A customer moves next to one of its NEAR nearest customers, or changes places with a neighbour of such a one,
where the loads allow it; the best such move of each customer is made, down to a local optimum.
Method: lambda-interchange with lambda = 1, restricted to near customers.
Source: I. H. Osman, "Metastrategy simulated annealing and tabu search algorithms for the vehicle routing
problem" (1993). Complexity: O(NEAR) per customer, O(n) per move. Work units: one per customer looked at.
"""

import numpy as np
from numba import njit
from parts.routes import move_block, near_customers, note_places, open_row, read_flat, route_loads

NEAR = 20  # tunable: int 5..60

CHUNK_CUSTOMERS = 2000


@njit(cache=True)
def improve_customer(node, flat, place, route_of, load, demands, capacity, dist, near):
    """Make the best relocation or exchange of `node` between routes; returns its gain."""
    n = dist.shape[0]
    at, route, demand = place[node], route_of[node], demands[node]
    before, behind = flat[at - 1], flat[at + 1]
    a, b = before if before < n else 0, behind if behind < n else 0
    removal = dist[a, node] + dist[node, b] - dist[a, b]
    best, best_gap, best_other = 0, 0, 0
    for i in range(near.shape[1]):
        other = near[node, i]
        its_route = route_of[other]
        if its_route == route:
            continue
        for step in (-1, 1):
            q = place[other] + step
            swapped = flat[q]
            c = swapped if swapped < n else 0
            if load[its_route] + demand <= capacity:
                gain = removal - dist[node, other] - dist[node, c] + dist[other, c]
                if gain > best:
                    best, best_gap, best_other = gain, max(q, place[other]), 0
            if swapped < n:
                difference = demands[swapped] - demand
                if load[route] + difference > capacity or load[its_route] - difference > capacity:
                    continue
                far = flat[q + step] if flat[q + step] < n else 0
                gain = dist[a, node] + dist[node, b] - dist[a, swapped] - dist[swapped, b]
                gain += dist[other, swapped] + dist[swapped, far] - dist[other, node] - dist[node, far]
                if gain > best:
                    best, best_gap, best_other = gain, 0, swapped
    if best > 0 and best_other > 0:
        q = place[best_other]
        load[route] += demands[best_other] - demand
        load[route_of[best_other]] += demand - demands[best_other]
        flat[at], flat[q] = best_other, node
        note_places(flat, at, at, place, route_of, n)
        note_places(flat, q, q, place, route_of, n)
    elif best > 0:
        load[route] -= demand
        move_block(flat, at, 1, best_gap, False, place, route_of, n)
        load[route_of[node]] += demand
    return best


@njit(cache=True)
def sweep(flat, place, route_of, load, demands, capacity, dist, near, cursor, customers):
    """Go on from customer cursor[0] for `customers` customers or until none of all has a move.

    cursor[1]: customers in turn without one. Returns the customers looked at.
    """
    n = dist.shape[0]
    looked = 0
    while looked < customers and cursor[1] < n - 1:
        node = 1 + cursor[0]
        gain = improve_customer(node, flat, place, route_of, load, demands, capacity, dist, near)
        cursor[1] = 0 if gain > 0 else cursor[1] + 1
        cursor[0] = (cursor[0] + 1) % (n - 1)
        looked += 1
    return looked


def run(env_data, state, calc_makespan_fn):
    budget, n = env_data["budget"], env_data["num_nodes"]
    dist, demands, flat, place, route_of = open_row(env_data, state)
    near = env_data["prepared"](near_customers, NEAR)
    load = np.zeros(n, np.int64)
    route_loads(flat, demands, load)
    cursor = np.zeros(2, np.int64)
    while cursor[1] < n - 1 and not budget.exhausted():
        looked = sweep(
            flat, place, route_of, load, demands, env_data["capacity"], dist, near, cursor, CHUNK_CUSTOMERS,
        )  # fmt: skip
        budget.charge(looked)
    state.sequence = read_flat(flat, n)
    return state
