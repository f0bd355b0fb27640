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

import numpy as np
from numba import njit
from parts.acceptance import cooling
from parts.routes import move_block, note_places, open_row, read_flat, route_loads
from parts.routing.near_nodes import nearest_nodes

NEAR = 15  # tunable: int 5..40
SEGMENT = 3  # tunable: int 1..8
HOT = 0.4  # tunable: float 0.05..2.0
COLD = 0.01  # tunable: float 0.001..0.05

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
def propose_reversal(node, other, flat, place, route_of, dist, limit):
    """Join `node` and `other`, on one route, by reversing what lies behind the first up to the second."""
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
def anneal(flat, place, route_of, load, demands, capacity, dist, near, heat, lengths, best, proposals, rng):
    """Make `proposals` proposals at temperature `heat`; lengths = [current, best], best: the best row."""
    n = dist.shape[0]
    for _ in range(proposals):
        node = 1 + int(rng.random() * (n - 1))
        other = near[node, int(rng.random() * near.shape[1])]
        limit = 1 - heat * np.log(1.0 - rng.random())
        kind = rng.random()
        if kind < 0.5:
            size = 1 + int(rng.random() * SEGMENT)
            is_reversed, goes_behind = rng.random() < 0.5, int(rng.random() * 2)
            change, is_made = propose_move(
                node, size, other, is_reversed, goes_behind, flat, place, route_of, load, demands, capacity,
                dist, limit,
            )  # fmt: skip
        elif kind < 0.8:
            change, is_made = propose_exchange(
                node, other, flat, place, route_of, load, demands, capacity, dist, limit
            )
        else:
            change, is_made = propose_reversal(node, other, flat, place, route_of, dist, limit)
        if is_made:
            lengths[0] += change
            if lengths[0] < lengths[1]:
                lengths[1] = lengths[0]
                best[:] = flat


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    if n < 3:
        return state
    dist, demands, flat, place, route_of = open_row(env_data, state)
    near = nearest_nodes(dist, 1, min(NEAR, n - 2))
    load = np.zeros(n, np.int64)
    route_loads(flat, demands, load)
    best = flat.copy()
    lengths = np.full(2, row_length(flat, dist), dtype=np.int64)
    start_heat = HOT * lengths[1] / n
    while not budget.exhausted():
        heat = start_heat * cooling(budget.remaining(), COLD / HOT)
        anneal(
            flat, place, route_of, load, demands, env_data["capacity"], dist, near, heat, lengths, best,
            CHUNK_PROPOSALS, rng,
        )  # fmt: skip
        budget.charge(CHUNK_PROPOSALS // PROPOSALS_PER_UNIT)
    state.sequence = read_flat(best, n)
    return state
