"""2-opt*: exchange the tails of two routes, straight or reversed, down to a local optimum.

For each customer the best exchange that joins it to one of its NEAR nearest customers is made.
Method: steepest descent over tail exchanges, customer by customer.
Source: J.-Y. Potvin, J.-M. Rousseau, "An exchange heuristic for routeing problems with time windows" (1995).
Complexity: O(NEAR) per customer, O(n) per move. Work units: one per customer looked at.
"""

import numpy as np
from numba import njit
from parts.routes import near_customers, note_places, open_row, read_flat

NEAR = 20  # tunable: int 5..60

CHUNK_CUSTOMERS = 2000


@njit(cache=True)
def carried_loads(flat, demands, carried, load):
    """Load up to and with each node of the row, and of each route."""
    n = demands.size
    route = 0
    for i in range(flat.size):
        if flat[i] >= n:
            route = flat[i] - n
            load[route] = 0
        else:
            load[route] += demands[flat[i]]
        carried[flat[i]] = load[route]


@njit(cache=True)
def exchange_tails(u, v, is_reversed, flat, place, route_of, n):
    """Join u, v: v's tail follows u, or, reversed, v's front does and u's tail leads the rest of v's."""
    p, q = place[u], place[v]
    stop, its_start, its_stop = p + 1, q, q + 1
    while flat[stop] < n:
        stop += 1
    while flat[its_start - 1] < n:
        its_start -= 1
    while flat[its_stop] < n:
        its_stop += 1
    tail = flat[p + 1 : stop].copy()
    if is_reversed:
        first, second = flat[its_start : q + 1][::-1].copy(), tail[::-1].copy()
        low, high = its_start, q + 1
    else:
        first, second = flat[q:its_stop].copy(), tail
        low, high = q, its_stop
    if p < low:
        row = np.concatenate((flat[: p + 1], first, flat[stop:low], second, flat[high:]))
    else:
        row = np.concatenate((flat[:low], second, flat[high : p + 1], first, flat[stop:]))
    flat[:] = row
    note_places(flat, 0, flat.size - 1, place, route_of, n)


@njit(cache=True)
def improve_customer(u, flat, place, route_of, carried, load, demands, capacity, dist, near):
    """Make the best exchange of tails that joins `u` to a near customer behind it; returns its gain."""
    n = dist.shape[0]
    route = route_of[u]
    x = flat[place[u] + 1]
    ax = x if x < n else 0
    best, best_v, best_reversed = 0, 0, False
    for i in range(near.shape[1]):
        v = near[u, i]
        other = route_of[v]
        if other == route:
            continue
        before, behind = flat[place[v] - 1], flat[place[v] + 1]
        b, w = before if before < n else 0, behind if behind < n else 0
        total = load[route] + load[other]
        joined = carried[u] + load[other] - carried[v] + demands[v]
        gain = dist[u, ax] + dist[b, v] - dist[u, v] - dist[b, ax]
        if gain > best and joined <= capacity and total - joined <= capacity:
            best, best_v, best_reversed = gain, v, False
        joined = carried[u] + carried[v]
        gain = dist[u, ax] + dist[v, w] - dist[u, v] - dist[ax, w]
        if gain > best and joined <= capacity and total - joined <= capacity:
            best, best_v, best_reversed = gain, v, True
    if best > 0:
        exchange_tails(u, best_v, best_reversed, flat, place, route_of, n)
        carried_loads(flat, demands, carried, load)
    return best


@njit(cache=True)
def sweep(flat, place, route_of, carried, load, demands, capacity, dist, near, cursor, customers):
    """Go on from customer cursor[0] for `customers` customers or until none of all has a move.

    cursor[1]: customers in turn without one. Returns the customers looked at.
    """
    n = dist.shape[0]
    looked = 0
    while looked < customers and cursor[1] < n - 1:
        gain = improve_customer(
            1 + cursor[0], flat, place, route_of, carried, load, demands, capacity, dist, near
        )
        cursor[1] = 0 if gain > 0 else cursor[1] + 1
        cursor[0] = (cursor[0] + 1) % (n - 1)
        looked += 1
    return looked


def run(env_data, state, calc_makespan_fn):
    budget, n, capacity = env_data["budget"], env_data["num_nodes"], env_data["capacity"]
    dist, demands, flat, place, route_of = open_row(env_data, state)
    near = env_data["prepared"](near_customers, NEAR)
    carried, load = np.zeros(2 * n, np.int64), np.zeros(n, np.int64)
    carried_loads(flat, demands, carried, load)
    cursor = np.zeros(2, np.int64)
    while cursor[1] < n - 1 and not budget.exhausted():
        looked = sweep(
            flat, place, route_of, carried, load, demands, capacity, dist, near, cursor, CHUNK_CUSTOMERS,
        )  # fmt: skip
        budget.charge(looked)
    state.sequence = read_flat(flat, n)
    return state
