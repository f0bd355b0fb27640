"""Simulated annealing: a random vertex joins, its neighbours in the set leave, at the price of their number.

Method: a vertex with t neighbours in the set is drawn; the set shrinks by t - 1 when it joins. The move is
made when t is at most 1, otherwise with probability exp(-(t - 1) / temperature). The temperature falls with
the share of the budget that is left.

Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by simulated annealing, 1983; X. Geng, J. Xu,
J. Xiao, L. Pan, A simple simulated annealing algorithm for the maximum clique problem, 2007.

Complexity: O(1) per refused and O(t degree) per accepted proposal. Work units: one per proposal.
"""

import numpy as np
from numba import njit

HOT = 0.6  # tunable: float 0.1..3.0
COLD = 0.12  # tunable: float 0.02..0.5

CHUNK_WORK = 2_000_000
TRAIL = 1


@njit(cache=True)
def draw(stream, bound):
    """Next number on 0 .. bound - 1 of the xorshift generator whose state is stream[0]."""
    x = stream[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    stream[0] = x
    return (np.int64(x >> np.uint64(33)) * bound) >> 31


@njit(cache=True)
def neighbour_lists(adj):
    """Neighbours of vertex v at first[v] .. first[v + 1] - 1 of the second array."""
    n = adj.shape[0]
    first = np.zeros(n + 1, np.int64)
    for u in range(n):
        degree = 0
        for v in range(n):
            degree += adj[u, v]
        first[u + 1] = first[u] + degree
    near = np.empty(first[n], np.int32)
    for u in range(n):
        at = first[u]
        for v in range(n):
            if adj[u, v]:
                near[at] = v
                at += 1
    return first, near


@njit(cache=True)
def move_to(order, place, v, at):
    """Swap v with the vertex at position `at` of `order`."""
    u = order[at]
    order[place[v]], place[u] = u, place[v]
    order[at], place[v] = v, at


@njit(cache=True)
def enter(v, first, near, order, place, tight, counts, trail):
    """Free vertex v joins the set.

    order = [set | free | others] with place[order[i]] = i; tight[v]: neighbours of v in the set; counts =
    [size, free vertices, moves on the trail]; the trail keeps v + 1 for entering and -v - 1 for leaving.
    """
    move_to(order, place, v, counts[0])
    counts[0] += 1
    counts[1] -= 1
    for i in range(first[v], first[v + 1]):
        u = near[i]
        if tight[u] == 0:
            counts[1] -= 1
            move_to(order, place, u, counts[0] + counts[1])
        tight[u] += 1
    if counts[2] < trail.size:
        trail[counts[2]] = v + 1
    counts[2] += 1


@njit(cache=True)
def leave(v, first, near, order, place, tight, counts, trail):
    """Vertex v of the set leaves it and is free; see enter."""
    counts[0] -= 1
    counts[1] += 1
    move_to(order, place, v, counts[0])
    for i in range(first[v], first[v + 1]):
        u = near[i]
        tight[u] -= 1
        if tight[u] == 0:
            move_to(order, place, u, counts[0] + counts[1])
            counts[1] += 1
    if counts[2] < trail.size:
        trail[counts[2]] = -v - 1
    counts[2] += 1


@njit(cache=True)
def force(v, first, near, order, place, tight, counts, trail):
    """Vertex v joins the set; its neighbours leave."""
    if place[v] < counts[0]:
        return
    for i in range(first[v], first[v + 1]):
        if tight[v] == 0:
            break
        if place[near[i]] < counts[0]:
            leave(near[i], first, near, order, place, tight, counts, trail)
    enter(v, first, near, order, place, tight, counts, trail)


@njit(cache=True)
def loaded(sequence, first, near, order, place, tight, counts, trail):
    """Set up the arrays of enter for the set given by the 0/1 vector `sequence`."""
    for v in range(sequence.size):
        order[v] = place[v] = v
        tight[v] = 0
    counts[0], counts[1] = 0, sequence.size
    for v in range(sequence.size):
        if sequence[v]:
            enter(v, first, near, order, place, tight, counts, trail)
    counts[2] = 0


# exchangeable: cooling
@njit(cache=True)
def cooling(remaining, hot, cold):
    """Temperature when the share `remaining` (1 to 0) of the time is left."""
    return hot * (cold / hot) ** (1.0 - remaining)


@njit(cache=True)
def proposals(first, near, order, place, tight, counts, trail, best, chances, n_proposals, stream):
    """Make `n_proposals`; chances[t]: probability, times 2^31, of a move that drives t vertices out."""
    n, most = order.size, best.sum()
    for _ in range(n_proposals):
        if counts[0] >= n:
            return
        v = order[counts[0] + draw(stream, n - counts[0])]
        driven = min(tight[v], chances.size - 1)
        if driven > 1 and draw(stream, 1 << 31) >= chances[driven]:
            continue
        force(v, first, near, order, place, tight, counts, trail)
        if counts[0] > most:
            most = counts[0]
            best[:] = 0
            for i in range(most):
                best[order[i]] = 1


def run(env_data, state, calc_makespan_fn):
    """Anneal from `state` for the whole share of the budget."""
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_vertices"]
    adj = np.array(env_data["adj"], dtype=np.uint8)
    first, near = neighbour_lists(adj)
    stream = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
    best = np.array(state.sequence, dtype=np.int32)
    order, place, tight = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    counts, trail = np.zeros(4, np.int64), np.zeros(TRAIL, np.int32)
    loaded(best, first, near, order, place, tight, counts, trail)
    n_proposals = max(20, CHUNK_WORK // (20 + 4 * (len(near) // n + 1)))
    while not budget.exhausted():
        heat = cooling(budget.remaining(), HOT, COLD)
        chances = np.array([int(2.0**31 * np.exp(-max(t - 1, 0) / heat)) for t in range(20)], dtype=np.int64)
        proposals(first, near, order, place, tight, counts, trail, best, chances, n_proposals, stream)
        budget.charge(n_proposals)
    state.sequence = best
    return state
