"""Hybrid genetic search: crossover of giant tours, split, granular descent with SWAP*, managed diversity.

Individuals are giant tours; split cuts a child into routes whose excess load is penalised; the descent
improves it under the same penalty, which is steered so that about FEASIBLE of the results keep the capacity.
Infeasible results are repaired half of the time. Parents and survivors are chosen by the ranks of their cost
and of their distance to the most similar others; the population starts anew when it stagnates.
Method: memetic algorithm with biased fitness and penalised infeasible solutions.
Source: T. Vidal, T. G. Crainic, M. Gendreau, N. Lahrichi, W. Rei, "A hybrid genetic algorithm for multidepot
and periodic vehicle routing problems" (2012); T. Vidal, "Hybrid genetic search for the CVRP: open-source
implementation and SWAP* neighborhood" (2022); C. Prins, "A simple and effective evolutionary algorithm for
the vehicle routing problem" (2004) for the split. Complexity: dominated by the descents, O(n NEAR) each at
least. Work units: one per 100 pairs looked at.
"""

import numpy as np
from numba import njit

NEAR = 20  # tunable: int 8..40
LEAST = 25  # tunable: int 5..60
BROOD = 40  # tunable: int 10..100
FOUNDERS = 60  # tunable: int 10..200
ELITE = 4  # tunable: int 1..10
CLOSEST = 5  # tunable: int 1..10
FEASIBLE = 0.25  # tunable: float 0.05..0.6
PATIENCE = 8000  # tunable: int 500..50000

CHUNK_PAIRS = 60_000
CHUNK_STEPS = 200_000
PAIRS_PER_UNIT = 100


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
def best_move(u, v, rings, dist, demands, capacity, penalty, bound):
    """Kind and change in cost of the best move that puts `u` behind `v` or exchanges what follows them.

    Kinds: 1 relocate u; 2, 3 relocate u and its successor x, straight and reversed; 4 swap u and v; 5 swap u
    x and v; 6 swap u x and v w (w follows v); 7 reverse x … v; 8, 9 exchange tails of two routes, reversed
    and straight. Node v may be a depot. The cost is length + penalty * excess load; kind 0: no move changes
    it by less than `bound`.
    """
    after, before, ring_of, place, carried, load = rings[0], rings[1], rings[2], rings[3], rings[4], rings[5]
    n = demands.size
    x, w, left, behind = after[u], after[v], before[u], before[v]
    y, z = after[x], after[w]
    ax, ay, al = x if x < n else 0, y if y < n else 0, left if left < n else 0
    av, aw, az = v if v < n else 0, w if w < n else 0, z if z < n else 0
    ring, its_ring = ring_of[u], ring_of[v]
    is_one = ring == its_ring
    here, there = load[ring], load[its_ring]
    now = 0.0 if is_one else penalty * overload(here, there, 0, capacity)
    d_lu, d_ux, d_vw, d_vu = dist[al, u], dist[u, ax], dist[av, aw], dist[av, u]
    q_u, q_x = demands[u], demands[ax]
    best, kind = bound, 0
    if u != w:
        change = dist[al, ax] - d_lu - d_ux + d_vu + dist[u, aw] - d_vw - now
        if change < best:
            if not is_one:
                change += penalty * overload(here, there, q_u, capacity)
            if change < best:
                best, kind = change, 1
        if x < n and x != v:
            d_xy = dist[ax, ay]
            base = dist[al, ay] - d_lu - d_xy - d_vw - now
            straight = base + d_vu + dist[ax, aw]
            turned = base + dist[av, ax] + dist[u, aw]
            change = min(straight, turned)
            if change < best:
                if not is_one:
                    change += penalty * overload(here, there, q_u + q_x, capacity)
                if change < best:
                    best, kind = change, 2 if straight <= turned else 3
    if v < n and u != behind and u != w:
        ab = behind if behind < n else 0
        q_v = demands[v]
        d_bv = dist[ab, av]
        base = dist[ab, u] - d_lu - d_bv - d_vw - now
        change = base + dist[al, av] + dist[av, ax] - d_ux + dist[u, aw]
        if x != v and change < best:
            if not is_one:
                change += penalty * overload(here, there, q_u - q_v, capacity)
            if change < best:
                best, kind = change, 4
        if x < n and x != v and x != behind:
            d_xy = dist[ax, ay]
            change = base + dist[al, av] + dist[av, ay] - d_xy + dist[ax, aw]
            if change < best:
                if not is_one:
                    change += penalty * overload(here, there, q_u + q_x - q_v, capacity)
                if change < best:
                    best, kind = change, 5
            if w < n and w != left and y != v:
                change = dist[al, av] + dist[aw, ay] - d_lu - d_xy + dist[ab, u] + dist[ax, az] - d_bv
                change -= dist[aw, az] + now
                if change < best:
                    if not is_one:
                        moved = q_u + q_x - q_v - demands[aw]
                        change += penalty * overload(here, there, moved, capacity)
                    if change < best:
                        best, kind = change, 6
    if is_one:
        if v < n and x != v and place[v] > place[u]:
            change = d_vu + dist[ax, aw] - d_ux - d_vw
            if change < best:
                best, kind = change, 7
    else:
        change = d_vu + dist[ax, aw] - d_ux - d_vw - now
        if change < best:
            change += penalty * overload(here, there, here - carried[u] - carried[v], capacity)
            if change < best:
                best, kind = change, 8
        change = dist[u, aw] + dist[av, ax] - d_ux - d_vw - now
        if change < best:
            moved = here - carried[u] - there + carried[v]
            change += penalty * overload(here, there, moved, capacity)
            if change < best:
                best, kind = change, 9
    return kind, best


@njit(cache=True)
def swap_nodes(u, v, rings):
    """Let two nodes that are not neighbours change places."""
    after, before = rings[0], rings[1]
    left, right, its_left, its_right = before[u], after[u], before[v], after[v]
    join(left, v, rings)
    join(v, right, rings)
    join(its_left, u, rings)
    join(u, its_right, rings)


@njit(cache=True)
def make_move(kind, u, v, rings, demands):
    """Carry out a move found by `best_move`."""
    after, before, ring_of = rings[0], rings[1], rings[2]
    n = demands.size
    ring, its_ring = ring_of[u], ring_of[v]
    x, w = after[u], after[v]
    end, its_end = before[n + ring], before[n + its_ring]
    if kind <= 3:
        shift_node(u, v, rings)
        if kind == 2:
            shift_node(x, u, rings)
        elif kind == 3:
            shift_node(x, v, rings)
    elif kind <= 6:
        swap_nodes(u, v, rings)
        if kind == 5:
            shift_node(x, u, rings)
        elif kind == 6:
            swap_nodes(x, w, rings)
    elif kind == 7:
        node = x
        while node != w:
            following = after[node]
            after[node], before[node] = before[node], following
            node = following
        join(u, v, rings)
        join(x, w, rings)
    elif kind == 8:
        last, node = u, v
        while node < n:
            following = before[node]
            join(last, node, rings)
            last, node = node, following
        join(last, n + ring, rings)
        last, node = n + its_ring, end
        while x < n and node != u:
            following = before[node]
            join(last, node, rings)
            last, node = node, following
        join(last, w, rings)
    else:
        join(u, w if w < n else n + ring, rings)
        if w < n:
            join(its_end, n + ring, rings)
        join(v, x if x < n else n + its_ring, rings)
        if x < n:
            join(end, n + its_ring, rings)
    refresh_ring(ring, rings, demands)
    if its_ring != ring:
        refresh_ring(its_ring, rings, demands)


@njit(cache=True)
def improve_customer(u, rings, dist, demands, capacity, penalty, near, tested, cursor):
    """Try the moves of `u` with its near customers, with depots next to them, and with an empty route.

    Pairs whose routes have not changed since `u` was tested last are passed over. Returns the change in cost
    and the pairs looked at; cursor[1] is set back when something changed.
    """
    after, before, ring_of, touched = rings[0], rings[1], rings[2], rings[6]
    n = demands.size
    since, tested[u] = tested[u], cursor[2]
    total, seen, k = 0.0, 0, near.shape[1]
    for i in range(2 * k + 1):
        if i < 2 * k:
            v = near[u, i // 2]
            if max(touched[ring_of[u]], touched[ring_of[v]]) <= since:
                continue
            if i % 2:
                v = before[v]
                if v < n:
                    continue
        else:
            v = n
            while v < after.size and after[v] != v:
                v += 1
            if v == after.size or (touched[ring_of[u]] <= since and since >= 0):
                continue
        seen += 1
        kind, change = best_move(u, v, rings, dist, demands, capacity, penalty, -1e-6)
        if kind > 0:
            ring, its_ring = ring_of[u], ring_of[v]
            make_move(kind, u, v, rings, demands)
            cursor[1] = 0
            cursor[2] += 1
            touched[ring] = touched[its_ring] = cursor[2]
            total += change
    return total, seen


@njit(cache=True)
def descend_granular(order, rings, dist, demands, capacity, penalty, near, tested, cursor, pairs):
    """Go on with the descent until about `pairs` pairs were looked at or no customer has a move.

    cursor = [index in order, customers in turn without a move, moves made, pairs looked at, ring]. Returns
    the change.
    """
    total = 0.0
    while pairs > 0 and cursor[1] < order.size:
        u = order[cursor[0]]
        cursor[1] += 1
        cursor[0] = (cursor[0] + 1) % order.size
        change, seen = improve_customer(u, rings, dist, demands, capacity, penalty, near, tested, cursor)
        total += change
        pairs -= seen + 1
        cursor[3] += seen + 1
    return total


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


# exchangeable: planar-embedding
def planar_points(dist):
    """Points on the plane whose distances approximate the edge lengths, the depot at the origin: (n, 2).

    Classical scaling: the two leading eigenvectors of the Gram matrix, by subspace iteration.
    """
    exact = dist.astype(np.float64)
    gram = 0.5 * (exact[0][:, None] ** 2 + exact[0][None, :] ** 2 - exact**2)
    index = np.arange(len(dist))
    basis = np.stack([np.cos(index), np.sin(1.7 * index)], axis=1)
    for _ in range(25):
        basis, _ = np.linalg.qr(gram @ basis)
    values, vectors = np.linalg.eigh(basis.T @ gram @ basis)
    return basis @ vectors @ np.diag(np.sqrt(np.maximum(values, 0.0)))


# exchangeable: crossover
@njit(cache=True)
def crossover(mother, father, rng):
    """A child of two giant tours: a run of the mother's, the rest in the father's order from its end on."""
    size = mother.size
    first, last = int(rng.random() * size), int(rng.random() * size)
    run_length = (last - first) % size + 1
    child = np.empty(size, np.int32)
    is_taken = np.zeros(size + 1, np.uint8)
    for i in range(run_length):
        node = mother[(first + i) % size]
        child[(first + i) % size] = node
        is_taken[node] = 1
    slot = (first + run_length) % size
    for i in range(size):
        node = father[(last + 1 + i) % size]
        if not is_taken[node]:
            child[slot] = node
            slot = (slot + 1) % size
    return child


@njit(cache=True)
def split_tour(tour, rings, dist, demands, capacity, penalty):
    """Cut a giant tour into the routes of least penalised cost and thread them on the rings."""
    n, n_rings = demands.size, rings[5].size
    size = tour.size
    cost, cut = np.full(size + 1, np.inf), np.zeros(size + 1, np.int64)
    routes = np.zeros(size + 1, np.int64)
    cost[0] = 0.0
    for i in range(size):
        load, length = 0, 0
        for j in range(i, size):
            node = tour[j]
            load += demands[node]
            if j > i and load > 1.5 * capacity:
                break
            length += dist[0, node] if j == i else dist[tour[j - 1], node]
            total = cost[i] + length + dist[node, 0] + penalty * max(load - capacity, 0)
            if total < cost[j + 1]:
                cost[j + 1], cut[j + 1], routes[j + 1] = total, i, routes[i] + 1
    sequence = np.empty(2 * n, np.int32)
    if routes[size] <= n_rings:
        is_start = np.zeros(size + 1, np.uint8)
        stop = size
        while stop > 0:
            stop = cut[stop]
            is_start[stop] = 1
    else:
        is_start, load = np.zeros(size + 1, np.uint8), 0
        for i in range(size):
            load += demands[tour[i]]
            if load > capacity:
                is_start[i], load = 1, demands[tour[i]]
    written = 0
    for i in range(size):
        if i > 0 and is_start[i]:
            sequence[written] = 0
            written += 1
        sequence[written] = tour[i]
        written += 1
    thread_rings(sequence[:written].copy(), rings[0], rings[1], rings[2], n)
    for ring in range(n_rings):
        refresh_ring(ring, rings, demands)


@njit(cache=True)
def describe(rings, dist, demands, capacity, points):
    """Giant tour (routes by the angle of their centre), successor and predecessor of each customer, with the
    depot as 0, length and excess load of the routes on the rings.
    """
    after, load = rings[0], rings[5]
    n = demands.size
    successor, predecessor = np.zeros(n, np.int32), np.zeros(n, np.int32)
    length, excess = 0, 0
    angles = np.full(load.size, 9.0)
    for ring in range(load.size):
        x, y = 0.0, 0.0
        node, previous = after[n + ring], 0
        while node < n:
            x, y = x + points[node, 0], y + points[node, 1]
            predecessor[node] = previous
            successor[previous] = node
            length += dist[previous, node]
            previous, node = node, after[node]
        length += dist[previous, 0]
        successor[previous] = 0
        excess += max(load[ring] - capacity, 0)
        if previous > 0:
            angles[ring] = np.arctan2(y, x)
    tour, size = np.empty(n - 1, np.int32), 0
    for ring in np.argsort(angles):
        node = after[n + ring]
        while node < n:
            tour[size] = node
            size, node = size + 1, after[node]
    return tour, successor, predecessor, length, excess


@njit(cache=True)
def broken_pairs(successor, predecessor, its_successor, its_predecessor):
    """Share of customers with another neighbour: 0 for equal solutions, mirrored routes included."""
    broken, n = 0, successor.size
    for node in range(1, n):
        a, b = successor[node], predecessor[node]
        c, d = its_successor[node], its_predecessor[node]
        broken += a != c and a != d
        broken += b == 0 and c != 0 and d != 0
    return broken / (n - 1)


class Problem:
    """What the descents of one run share."""

    def __init__(self, env_data):
        self.budget, self.rng = env_data["budget"], env_data["rng"]
        self.n, self.capacity = env_data["num_nodes"], env_data["capacity"]
        self.dist = np.array(env_data["dist_matrix"], dtype=np.int32)
        self.demands = np.array(env_data["demands"], dtype=np.int64)
        self.near = nearest_customers(self.dist, min(NEAR, self.n - 2))
        self.points = planar_points(self.dist)
        self.penalty = float(min(max(self.dist.max() / max(self.demands.max(), 1), 0.1), 1000.0))
        self.outcomes, self.born = [], 0

    def make_rings(self, n_routes):
        least = -(-int(self.demands.sum()) // self.capacity)
        self.rings = new_rings(self.n, min(max(2 * least + 2, n_routes + 2), self.n))
        self.tested, self.cursor = np.full(self.n, -1, np.int64), np.zeros(5, np.int64)
        self.star_tested = np.full(len(self.rings[5]), -1, np.int64)

    def descend(self, penalty):
        """Local optimum under the penalty of what is on the rings; False when the share is used up first."""
        shared = (self.rings, self.dist, self.demands, self.capacity, penalty, self.near)
        order = self.rng.permutation(np.arange(1, self.n)).astype(np.int64)
        self.cursor[:], self.tested[:], self.star_tested[:], self.rings[6][:] = 0, -1, -1, 0
        while True:
            if self.budget.exhausted():
                return False
            seen = self.cursor[3]
            if self.cursor[1] < self.n - 1:
                descend_granular(order, *shared, self.tested, self.cursor, CHUNK_PAIRS)
            elif self.cursor[4] < len(self.star_tested):
                descend_swap_star(*shared, self.star_tested, self.cursor, CHUNK_STEPS)
            else:
                return True
            self.budget.charge(1 + int(self.cursor[3] - seen) // PAIRS_PER_UNIT)
            if self.cursor[1] == 0:
                self.cursor[4] = 0

    def individual(self):
        """What is on the rings, as an individual."""
        tour, successor, predecessor, length, excess = describe(
            self.rings, self.dist, self.demands, self.capacity, self.points
        )
        return Individual(tour, successor, predecessor, int(length), int(excess))

    def steer(self, is_feasible):
        """Remember an outcome; adapt the penalty after every 50."""
        self.outcomes.append(is_feasible)
        if len(self.outcomes) == 50:
            share = sum(self.outcomes) / 50
            if share < FEASIBLE - 0.05:
                self.penalty = min(self.penalty * 1.2, 100_000.0)
            elif share > FEASIBLE + 0.05:
                self.penalty = max(self.penalty * 0.85, 0.1)
            self.outcomes = []


class Individual:
    def __init__(self, tour, successor, predecessor, length, excess):
        self.tour, self.successor, self.predecessor = tour, successor, predecessor
        self.length, self.excess = length, excess

    def distance(self, other):
        return broken_pairs(self.successor, self.predecessor, other.successor, other.predecessor)


class Population:
    """Individuals of one kind (feasible or not) with their distances."""

    def __init__(self):
        self.members, self.distances = [], np.zeros((0, 0))

    def add(self, individual, penalty):
        size = len(self.members)
        grown = np.zeros((size + 1, size + 1))
        grown[:size, :size] = self.distances
        grown[size, :size] = [individual.distance(other) for other in self.members]
        grown[:size, size] = grown[size, :size]
        self.members.append(individual)
        self.distances = grown
        if len(self.members) > LEAST + BROOD:
            while len(self.members) > LEAST:
                self.drop_one(penalty)

    def biased_fitness(self, penalty):
        """Rank by cost plus weighted rank by distance to the closest (small is good), and rank by cost."""
        size = len(self.members)
        cost = np.array([member.length + penalty * member.excess for member in self.members])
        k = min(CLOSEST, size - 1)
        away = (
            np.sort(self.distances + np.diag(np.full(size, 9.0)), axis=1)[:, :k].mean(axis=1) if k else cost
        )
        by_cost, by_distance = np.empty(size), np.empty(size)
        by_cost[np.argsort(cost, kind="stable")] = np.arange(size)
        by_distance[np.argsort(-away, kind="stable")] = np.arange(size)
        return by_cost + (1.0 - min(ELITE, size) / size) * by_distance, by_cost

    def drop_one(self, penalty):
        """Drop a clone if there is one, else the individual of worst fitness, never the cheapest."""
        fitness, by_cost = self.biased_fitness(penalty)
        twins = (self.distances + np.eye(len(fitness)) == 0.0).any(axis=1)
        fitness[twins] += 1e6
        fitness[by_cost == 0] = -1.0
        worst = int(np.argmax(fitness))
        del self.members[worst]
        self.distances = np.delete(np.delete(self.distances, worst, 0), worst, 1)


def tournament(populations, penalty, rng):
    """The fitter of two random individuals."""
    fitness = np.concatenate([p.biased_fitness(penalty)[0] for p in populations if p.members])
    members = populations[0].members + populations[1].members
    one, other = rng.integers(len(members), size=2)
    return members[one if fitness[one] < fitness[other] else other]


def breed(problem, populations):
    """Giant tour of the next child: of two parents, or random while the population is young."""
    if problem.born < FOUNDERS:
        return problem.rng.permutation(np.arange(1, problem.n)).astype(np.int32)
    mother = tournament(populations, problem.penalty, problem.rng)
    father = tournament(populations, problem.penalty, problem.rng)
    return crossover(mother.tour, father.tour, problem.rng)


def run(env_data, state, calc_makespan_fn):
    if env_data["num_nodes"] < 4:
        return state
    problem = Problem(env_data)
    sequence = np.array(state.sequence, dtype=np.int32)
    problem.make_rings(int((sequence == 0).sum()) + 1)
    rings = problem.rings
    thread_rings(sequence, rings[0], rings[1], rings[2], problem.n)
    for ring in range(len(rings[5])):
        refresh_ring(ring, rings, problem.demands)
    best, best_length = rings[0].copy(), problem.individual().length
    populations = (Population(), Population())
    since, is_repair, is_alive = 0, False, problem.descend(1e6)
    while True:
        individual = problem.individual()
        populations[individual.excess > 0].add(individual, problem.penalty)
        since += 1
        if individual.excess == 0 and individual.length < best_length:
            best, best_length, since = rings[0].copy(), individual.length, 0
        if not is_alive:
            break
        if not is_repair:
            problem.steer(individual.excess == 0)
            problem.born += 1
            if individual.excess > 0 and problem.rng.random() < 0.5:
                is_repair, is_alive = True, problem.descend(10.0 * problem.penalty)
                continue
        is_repair = False
        if since > PATIENCE:
            populations, problem.born, since = (Population(), Population()), 0, 0
        child = breed(problem, populations)
        split_tour(child, rings, problem.dist, problem.demands, problem.capacity, problem.penalty)
        is_alive = problem.descend(problem.penalty)
    state.sequence = read_rings(best, problem.n)
    return state
