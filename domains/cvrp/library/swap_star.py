"""SWAP*: two customers of neighbouring routes change routes, each to its best place there.

Unlike an exchange in place, each of the two may go anywhere in the other's route; the three cheapest places
of every customer make the search of all pairs cheap. A customer may also move alone. Descends to a local
optimum.
Method: SWAP* neighbourhood over pairs of routes that have near customers.
Source: T. Vidal, "Hybrid genetic search for the CVRP: open-source implementation and SWAP* neighborhood",
Computers and Operations Research 140 (2022). Complexity: O(m^2) per pair of routes, m: customers on a route.
Work units: one per chunk.
"""

import numpy as np
from numba import njit

NEAR = 10  # tunable: int 3..40

CHUNK_STEPS = 200_000


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
def thread_rings(sequence, after, before, ring_of, n):
    """Thread routes on rings: ring r runs through its customers and back to its own depot node n + r."""
    for node in range(after.size):
        after[node] = before[node] = node
        ring_of[node] = max(node - n, 0)
    last = n
    for i in range(sequence.size):
        node = sequence[i] if sequence[i] > 0 else n + ring_of[last] + 1
        if node > n:
            after[last], before[n + ring_of[last]] = n + ring_of[last], last
        else:
            after[last], before[node], ring_of[node] = node, last, ring_of[last]
        last = node
    after[last], before[n + ring_of[last]] = n + ring_of[last], last


@njit(cache=True)
def read_rings(after, n):
    """The routes on the rings as a sequence of the card's encoding."""
    sequence = np.empty(2 * n, np.int32)
    size = 0
    for depot in range(n, after.size):
        node = after[depot]
        if node < n and size > 0:
            sequence[size] = 0
            size += 1
        while node < n:
            sequence[size] = node
            size += 1
            node = after[node]
    return sequence[:size].copy()


@njit(cache=True)
def refresh_ring(ring, rings, demands):
    """Bring the ring's positions, carried loads and load up to date.

    rings = (after, before, ring_of, place, carried, load, touched): successor, predecessor, ring and position
    of each node, load up to and with it; load of each ring and the number of the move that changed it last.
    """
    after, ring_of, place, carried, load = rings[0], rings[2], rings[3], rings[4], rings[5]
    n = demands.size
    node, at, total = after[n + ring], 1, 0
    while node < n:
        total += demands[node]
        ring_of[node], place[node], carried[node] = ring, at, total
        node, at = after[node], at + 1
    load[ring] = total


@njit(cache=True)
def join(left, right, rings):
    """Make `right` the successor of `left`."""
    rings[0][left] = right
    rings[1][right] = left


@njit(cache=True)
def shift_node(node, left, rings):
    """Take `node` from its place and put it behind `left`."""
    after, before = rings[0], rings[1]
    join(before[node], after[node], rings)
    join(node, after[left], rings)
    join(left, node, rings)


@njit(cache=True)
def overload(load, other_load, moved, capacity):
    """Excess over the capacity of two routes after `moved` units went from the first to the second."""
    return max(load - moved - capacity, 0) + max(other_load + moved - capacity, 0)


@njit(cache=True)
def three_best_places(node, ring, rings, dist, growths, lefts):
    """The three cheapest insertions of `node` into the ring, cheapest first: growth and node before it."""
    after = rings[0]
    n = dist.shape[0]
    growths[node, :] = 1 << 40
    left = n + ring
    while True:
        right = after[left]
        a, b = left if left < n else 0, right if right < n else 0
        growth = dist[a, node] + dist[node, b] - dist[a, b]
        slot = 3
        while slot > 0 and growths[node, slot - 1] > growth:
            slot -= 1
        if slot < 3:
            for i in range(2, slot, -1):
                growths[node, i], lefts[node, i] = growths[node, i - 1], lefts[node, i - 1]
            growths[node, slot], lefts[node, slot] = growth, left
        if right >= n:
            return
        left = right


@njit(cache=True)
def place_without(node, gone, rings, dist, growths, lefts):
    """Cheapest insertion of `node` into the ring of `gone` once that has left: growth and node before it."""
    after, before = rings[0], rings[1]
    n = dist.shape[0]
    left, right = before[gone], after[gone]
    a, b = left if left < n else 0, right if right < n else 0
    best, place = dist[a, node] + dist[node, b] - dist[a, b], left
    for i in range(3):
        candidate = lefts[node, i]
        if growths[node, i] >= best:
            break
        if candidate != gone and after[candidate] != gone:
            return growths[node, i], candidate
    return best, place


@njit(cache=True)
def swap_star(ring, other, rings, dist, demands, capacity, penalty, growths, lefts, removal):
    """Make the best SWAP* move between two rings: two customers swap routes, each to its best place there.

    A customer may also move alone. Returns the change in cost, 0 where nothing improves.
    """
    after, before, load = rings[0], rings[1], rings[5]
    n = demands.size
    for side in range(2):
        mine, its = (ring, other) if side == 0 else (other, ring)
        node = after[n + mine]
        while node < n:
            a, b = before[node] if before[node] < n else 0, after[node] if after[node] < n else 0
            removal[node] = dist[a, b] - dist[a, node] - dist[node, b]
            three_best_places(node, its, rings, dist, growths, lefts)
            node = after[node]
    here, there = load[ring], load[other]
    now = penalty * overload(here, there, 0, capacity)
    best, best_u, best_v, place_u, place_v = -1e-6, 0, 0, 0, 0
    u = after[n + ring]
    while u < n:
        change = removal[u] + growths[u, 0] - now
        if change < best:
            change += penalty * overload(here, there, demands[u], capacity)
            if change < best:
                best, best_u, best_v, place_u = change, u, 0, lefts[u, 0]
        v = after[n + other]
        while v < n:
            base = removal[u] + removal[v] - now
            if base < best:
                base += penalty * overload(here, there, demands[u] - demands[v], capacity)
            if base < best:
                growth, left = place_without(u, v, rings, dist, growths, lefts)
                its_growth, its_left = place_without(v, u, rings, dist, growths, lefts)
                if base + growth + its_growth < best:
                    best, best_u, best_v = base + growth + its_growth, u, v
                    place_u, place_v = left, its_left
            v = after[v]
        u = after[u]
    v = after[n + other]
    while v < n:
        change = removal[v] + growths[v, 0] - now
        if change < best:
            change += penalty * overload(here, there, -demands[v], capacity)
            if change < best:
                best, best_u, best_v, place_v = change, 0, v, lefts[v, 0]
        v = after[v]
    if best_u == 0 and best_v == 0:
        return 0.0
    if best_u > 0:
        join(before[best_u], after[best_u], rings)
    if best_v > 0:
        join(before[best_v], after[best_v], rings)
    if best_u > 0:
        join(best_u, after[place_u], rings)
        join(place_u, best_u, rings)
    if best_v > 0:
        join(best_v, after[place_v], rings)
        join(place_v, best_v, rings)
    refresh_ring(ring, rings, demands)
    refresh_ring(other, rings, demands)
    return best


@njit(cache=True)
def descend_swap_star(rings, dist, demands, capacity, penalty, near, star_tested, cursor, steps):
    """SWAP* from ring cursor[4] on, with the rings of near customers that changed since the last time.

    Stops behind the last ring or when about `steps` pairs of customers were looked at. Returns the change.
    """
    after, before, ring_of, place, touched = rings[0], rings[1], rings[2], rings[3], rings[6]
    n = demands.size
    growths, lefts = np.empty((n, 3), np.int64), np.empty((n, 3), np.int64)
    removal = np.zeros(n, np.int64)
    n_rings = after.size - n
    is_near = np.zeros(n_rings, np.uint8)
    total = 0.0
    while cursor[4] < n_rings and steps > 0:
        ring = cursor[4]
        cursor[4] += 1
        since, star_tested[ring] = star_tested[ring], cursor[2]
        is_near[:] = 0
        size, node = 0, after[n + ring]
        while node < n:
            for i in range(near.shape[1]):
                is_near[ring_of[near[node, i]]] = 1
            size, node = size + 1, after[node]
        steps -= n_rings
        for other in range(n_rings):
            if other == ring or not is_near[other] or max(touched[ring], touched[other]) <= since:
                continue
            change = swap_star(ring, other, rings, dist, demands, capacity, penalty, growths, lefts, removal)
            looked = 2 * size * max(place[before[n + other]], 1)
            steps -= looked
            cursor[3] += looked
            if change < 0.0:
                total += change
                cursor[1] = 0
                cursor[2] += 1
                touched[ring] = touched[other] = cursor[2]
    return total


def new_rings(n, n_rings):
    """Arrays for `n_rings` rings; see refresh_ring."""
    nodes = [np.zeros(n + n_rings, np.int32) for _ in range(4)]
    whole = [np.zeros(size, np.int64) for size in (n + n_rings, n_rings, n_rings)]
    return tuple(nodes + whole)


def run(env_data, state, calc_makespan_fn):
    budget, n, capacity = env_data["budget"], env_data["num_nodes"], env_data["capacity"]
    dist = np.array(env_data["dist_matrix"], dtype=np.int32)
    demands = np.array(env_data["demands"], dtype=np.int64)
    near = nearest_customers(dist, min(NEAR, n - 2))
    sequence = np.array(state.sequence, dtype=np.int32)
    n_rings = int((sequence == 0).sum()) + 1
    rings = new_rings(n, n_rings)
    thread_rings(sequence, rings[0], rings[1], rings[2], n)
    for ring in range(n_rings):
        refresh_ring(ring, rings, demands)
    star_tested, cursor = np.full(n_rings, -1, np.int64), np.zeros(5, np.int64)
    moves = -1
    while not budget.exhausted():
        if cursor[4] == n_rings:
            if cursor[2] == moves:
                break
            cursor[4] = 0
        if cursor[4] == 0:
            moves = cursor[2]
        descend_swap_star(rings, dist, demands, capacity, 1e6, near, star_tested, cursor, CHUNK_STEPS)
        budget.charge(1)
    state.sequence = read_rings(rings[0], n)
    return state
