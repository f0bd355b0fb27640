"""Relocate and exchange between routes: give a customer to another route, or swap two customers.

A customer moves next to one of its NEAR nearest customers, or changes places with a neighbour of such a one,
where the loads allow it; the best such move of each customer is made, down to a local optimum.
Method: lambda-interchange with lambda = 1, restricted to near customers.
Source: I. H. Osman, "Metastrategy simulated annealing and tabu search algorithms for the vehicle routing
problem" (1993). Complexity: O(NEAR) per customer, O(n) per move. Work units: one per customer looked at.
"""

import numpy as np
from numba import njit

NEAR = 20  # tunable: int 5..60

CHUNK_CUSTOMERS = 2000


# exchangeable: nearest-neighbour-lists
@njit(cache=True)
def nearest_customers(dist, k):
    """The k nearest other customers of each customer by rising distance: int32 (n, k); row 0 is unused."""
    n = dist.shape[0]
    near = np.zeros((n, k), np.int32)
    far = np.empty(k, np.int64)
    for node in range(1, n):
        found = 0
        for other in range(1, n):
            d = dist[node, other]
            if other == node or k == 0 or (found == k and d >= far[k - 1]):
                continue
            if found < k:
                found += 1
            slot = found - 1
            while slot > 0 and far[slot - 1] > d:
                far[slot] = far[slot - 1]
                near[node, slot] = near[node, slot - 1]
                slot -= 1
            far[slot] = d
            near[node, slot] = other
    return near


@njit(cache=True)
def lay_flat(sequence, n, spare):
    """Routes in a row, each opened by a depot marker of its own: n, n + 1, …; one more marker closes the row.

    `spare` empty routes stand at the end. Node ids from n on mean the depot.
    """
    routes = 1 + spare
    for i in range(sequence.size):
        routes += sequence[i] == 0
    flat = np.empty(n + routes, np.int32)
    flat[0] = n
    marker = n
    for i in range(sequence.size):
        if sequence[i] == 0:
            marker += 1
        flat[i + 1] = sequence[i] if sequence[i] > 0 else marker
    for i in range(sequence.size + 1, flat.size):
        marker += 1
        flat[i] = marker
    return flat


@njit(cache=True)
def read_flat(flat, n):
    """The routes of a row as a sequence of the card's encoding."""
    sequence = np.empty(2 * n, np.int32)
    size = 0
    for i in range(1, flat.size):
        if flat[i] < n:
            if size > 0 and flat[i - 1] >= n:
                sequence[size] = 0
                size += 1
            sequence[size] = flat[i]
            size += 1
    return sequence[:size].copy()


@njit(cache=True)
def note_places(flat, first, last, place, route_of, n):
    """Bring place[node] and route_of[node] up to date for the positions first..last of the row."""
    route = route_of[flat[first - 1]] if first > 0 else 0
    for i in range(first, last + 1):
        node = flat[i]
        if node >= n:
            route = node - n
        place[node] = i
        route_of[node] = route


@njit(cache=True)
def route_loads(flat, demands, load):
    """Write the load of each route of the row into `load`."""
    n = demands.size
    load[:] = 0
    route = 0
    for i in range(flat.size):
        if flat[i] >= n:
            route = flat[i] - n
        else:
            load[route] += demands[flat[i]]


@njit(cache=True)
def move_block(flat, first, size, gap, is_reversed, place, route_of, n):
    """Move the `size` nodes from position `first` on to the gap before position `gap`, perhaps reversed."""
    block = flat[first : first + size].copy()
    if gap > first:
        for i in range(first + size, gap):
            flat[i - size] = flat[i]
        start, low, high = gap - size, first, gap - 1
    else:
        for i in range(first - 1, gap - 1, -1):
            flat[i + size] = flat[i]
        start, low, high = gap, gap, first + size - 1
    for i in range(size):
        flat[start + i] = block[size - 1 - i if is_reversed else i]
    note_places(flat, low, high, place, route_of, n)


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
    dist = np.array(env_data["dist_matrix"], dtype=np.int32)
    demands = np.array(env_data["demands"], dtype=np.int64)
    near = nearest_customers(dist, min(NEAR, n - 2))
    flat = lay_flat(np.array(state.sequence, dtype=np.int32), n, 0)
    place, route_of = np.zeros(2 * n, np.int32), np.zeros(2 * n, np.int32)
    note_places(flat, 0, flat.size - 1, place, route_of, n)
    load = np.zeros(n, np.int64)
    route_loads(flat, demands, load)
    cursor = np.zeros(2, np.int64)
    while cursor[1] < n - 1 and not budget.exhausted():
        looked = sweep(
            flat,
            place,
            route_of,
            load,
            demands,
            env_data["capacity"],
            dist,
            near,
            cursor,
            CHUNK_CUSTOMERS,
        )
        budget.charge(looked)
    state.sequence = read_flat(flat, n)
    return state
