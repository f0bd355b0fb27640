"""Relocations, exchanges and 2-opt moves between customers that are near each other, on rings.

Source: P. Toth, D. Vigo, "The granular tabu search and its application to the vehicle-routing problem"
(2003); T. Vidal, "Hybrid genetic search for the CVRP: open-source implementation and SWAP* neighborhood"
(2022).
"""

from numba import njit
from parts.rings import join, overload, refresh_ring, shift_node, swap_nodes


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
