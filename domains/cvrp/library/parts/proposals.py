"""Random proposals on routes in a row, each made or not by what it does to the length.

The file brings ``reconnect``, which joins two near customers by another way between their edges.
"""

import numpy as np
from numba import njit
from parts.routes import move_block, near_customers, note_places, open_row, route_loads
from parts.taker import reconnect

SEGMENT = 3  # tunable: int 1..8
RELOCATIONS = 0.5  # tunable: float 0.1..0.9
EXCHANGES = 0.6  # tunable: float 0.1..0.9

PROPOSALS_PER_UNIT = 50
CHUNK_PROPOSALS = 20_000


@njit(cache=True)
def row_length(flat, dist):
    """Total length of the routes of the row."""
    n = dist.shape[0]
    total = 0
    for i in range(1, flat.size):
        a, b = flat[i - 1], flat[i]
        total += dist[a if a < n else 0, b if b < n else 0]
    return total


@njit(cache=True)
def propose_move(
    node, size, other, is_reversed, goes_behind, flat, place, route_of, load, demands, capacity, dist, limit
):
    """Move the `size` nodes from `node` on beside `other` if the length grows by less than `limit`.

    Returns the change of the length and whether the move was made.
    """
    n = dist.shape[0]
    at, gap = place[node], place[other] + goes_behind
    if at <= gap <= at + size:
        return 0, False
    demand = 0
    for i in range(at, at + size):
        if flat[i] >= n:
            return 0, False
        demand += demands[flat[i]]
    route, target = route_of[node], route_of[other]
    if route != target and load[target] + demand > capacity:
        return 0, False
    end = flat[at + size - 1]
    a, b = flat[at - 1] if flat[at - 1] < n else 0, flat[at + size] if flat[at + size] < n else 0
    left, right = flat[gap - 1] if flat[gap - 1] < n else 0, flat[gap] if flat[gap] < n else 0
    head, tail = (end, node) if is_reversed else (node, end)
    change = dist[a, b] + dist[left, head] + dist[tail, right]
    change -= dist[a, node] + dist[end, b] + dist[left, right]
    if change >= limit:
        return 0, False
    load[route] -= demand
    load[target] += demand
    move_block(flat, at, size, gap, is_reversed, place, route_of, n)
    return change, True


@njit(cache=True)
def propose_exchange(node, other, flat, place, route_of, load, demands, capacity, dist, limit):
    """Let `node` and the successor of `other` change places, like a proposal of a move."""
    n = dist.shape[0]
    p, q = place[node], place[other] + 1
    swapped = flat[q]
    if swapped >= n or abs(p - q) <= 1:
        return 0, False
    difference = demands[swapped] - demands[node]
    route, target = route_of[node], route_of[swapped]
    if route != target and (load[route] + difference > capacity or load[target] - difference > capacity):
        return 0, False
    a, b = flat[p - 1] if flat[p - 1] < n else 0, flat[p + 1] if flat[p + 1] < n else 0
    c = flat[q + 1] if flat[q + 1] < n else 0
    change = dist[a, swapped] + dist[swapped, b] - dist[a, node] - dist[node, b]
    change += dist[other, node] + dist[node, c] - dist[other, swapped] - dist[swapped, c]
    if change >= limit:
        return 0, False
    load[route] += difference
    load[target] -= difference
    flat[p], flat[q] = swapped, node
    note_places(flat, p, p, place, route_of, n)
    note_places(flat, q, q, place, route_of, n)
    return change, True


@njit(cache=True)
def reversed_between(node, other, flat, place, route_of, dist, limit):
    """Join `node` and `other`, on one route, by reversing what lies behind the first up to the second, if the
    length grows by less than `limit`; the change of the length and whether that was done.
    """
    n = dist.shape[0]
    p, q = min(place[node], place[other]), max(place[node], place[other])
    if route_of[node] != route_of[other] or q - p <= 1:
        return 0, False
    a, b, c = flat[p], flat[p + 1], flat[q]
    d = flat[q + 1] if flat[q + 1] < n else 0
    change = dist[a, c] + dist[b, d] - dist[a, b] - dist[c, d]
    if change >= limit:
        return 0, False
    flat[p + 1 : q + 1] = flat[p + 1 : q + 1][::-1].copy()
    note_places(flat, p + 1, q, place, route_of, n)
    return change, True


@njit(cache=True)
def try_proposals(
    flat, place, route_of, load, demands, capacity, dist, near, heat, lengths, best, proposals, rng
):
    """Make `proposals` proposals at temperature `heat`; 0 makes what is no longer.

    RELOCATIONS of them move a segment, EXCHANGES of the others let two customers change places, the rest
    reconnects. lengths = [present, best, proposals since the best was found]; best: the best row.
    """
    n = dist.shape[0]
    for _ in range(proposals):
        lengths[2] += 1
        node = 1 + int(rng.random() * (n - 1))
        other = near[node, int(rng.random() * near.shape[1])]
        limit = 1 - heat * np.log(1.0 - rng.random())
        if rng.random() < RELOCATIONS:
            size = 1 + int(rng.random() * SEGMENT)
            is_reversed, goes_behind = rng.random() < 0.5, int(rng.random() * 2)
            change, is_made = propose_move(
                node, size, other, is_reversed, goes_behind, flat, place, route_of, load, demands, capacity,
                dist, limit,
            )  # fmt: skip
        elif rng.random() < EXCHANGES:
            change, is_made = propose_exchange(
                node, other, flat, place, route_of, load, demands, capacity, dist, limit
            )
        else:
            change, is_made = reconnect(
                node, other, flat, place, route_of, load, demands, capacity, dist, limit
            )
        if is_made:
            lengths[0] += change
            if lengths[0] < lengths[1]:
                lengths[1], lengths[2] = lengths[0], 0
                best[:] = flat


def try_chunk(env_data, row, heat, lengths, best):
    """Make as many proposals as one kernel call takes, and charge them; see :func:`try_proposals`."""
    try_proposals(*row, heat, lengths, best, CHUNK_PROPOSALS, env_data["rng"])
    env_data["budget"].charge(CHUNK_PROPOSALS // PROPOSALS_PER_UNIT)


def open_proposals(env_data, state, n_near):
    """Arguments of :func:`try_proposals` up to the list of near customers; lengths, and a copy of the row."""
    dist, demands, flat, place, route_of = open_row(env_data, state)
    n = env_data["num_nodes"]
    near = env_data["prepared"](near_customers, n_near)
    load = np.zeros(n, np.int64)
    route_loads(flat, demands, load)
    length = row_length(flat, dist)
    row = flat, place, route_of, load, demands, env_data["capacity"], dist, near
    return row, np.array([length, length, 0], np.int64), flat.copy()
