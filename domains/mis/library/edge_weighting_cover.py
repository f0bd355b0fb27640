"""Edge weighting on the complementary vertex cover, with two-stage exchange and forgetting (NuMVC).

Method: the vertices outside a set form a cover when every edge has one. The search removes a vertex from
each cover it finds and looks for a cover of that smaller size: it takes the cheapest vertex out, and puts in
an end of a random uncovered edge whose surroundings have changed since it left. Edges that stay uncovered
gain weight; when the mean weight exceeds FORGET_ABOVE times the number of vertices, all weights shrink.

Source: S. Cai, K. Su, C. Luo, A. Sattar, NuMVC: an efficient local search algorithm for minimum vertex cover,
2013.

Complexity: O(n + degree) per exchange. Work units: one per exchange.
"""

import numpy as np
from numba import njit
from parts.independent_set import first_neighbours
from parts.xorshift import draw

FORGET_ABOVE = 0.5  # tunable: float 0.05..5.0
KEEP = 0.3  # tunable: float 0.05..0.9

CHUNK_WORK = 4_000_000
OUT = 1 << 29


@njit(cache=True)
def numbered_edges(adj):
    """Ends of each edge, and per vertex its neighbours and edges: ends, first, neighbours, edges."""
    n = adj.shape[0]
    first = first_neighbours(adj)
    ends = np.empty((first[n] // 2, 2), np.int32)
    near, edges = np.empty(first[n], np.int32), np.empty(first[n], np.int32)
    at = first[:n].copy()
    e = 0
    for u in range(n):
        for v in range(u + 1, n):
            if adj[u, v]:
                ends[e, 0], ends[e, 1] = u, v
                near[at[u]], edges[at[u]] = v, e
                near[at[v]], edges[at[v]] = u, e
                at[u] += 1
                at[v] += 1
                e += 1
    return ends, first, near, edges


@njit(cache=True)
def take_out(v, first, near, edges, weight, cost, changed, open_edges, place, counts):
    """Remove v from the cover.

    cost[v]: weight of the edges that v alone covers; for a vertex outside the cover OUT minus the weight of
    its uncovered edges. open_edges[:counts[0]] are the uncovered edges, with place[open_edges[i]] = i.
    """
    cost[v] = OUT - cost[v]
    changed[v] = 0
    for i in range(first[v], first[v + 1]):
        u, e = near[i], edges[i]
        if cost[u] < OUT // 2:
            cost[u] += weight[e]
        else:
            cost[u] -= weight[e]
            changed[u] = 1
            place[e] = counts[0]
            open_edges[counts[0]] = e
            counts[0] += 1


@njit(cache=True)
def put_in(v, first, near, edges, weight, cost, changed, open_edges, place, counts):
    """Add v to the cover; see take_out."""
    cost[v] = OUT - cost[v]
    for i in range(first[v], first[v + 1]):
        u, e = near[i], edges[i]
        if cost[u] < OUT // 2:
            cost[u] -= weight[e]
        else:
            cost[u] += weight[e]
            changed[u] = 1
            counts[0] -= 1
            last = open_edges[counts[0]]
            open_edges[place[e]] = last
            place[last] = place[e]


# exchangeable: removal-choice
@njit(cache=True)
def removal_choice(cost, stamp):
    """The vertex with smallest cost; of equals the one whose stamp is oldest."""
    least = cost[0]
    for v in range(cost.size):
        least = min(least, cost[v])
    choice, oldest = 0, np.int64(1) << 62
    for v in range(cost.size):
        if cost[v] == least and stamp[v] < oldest:
            choice, oldest = v, stamp[v]
    return choice


@njit(cache=True)
def forget(weight, cost, inside, ends):
    """Shrink all weights to KEEP of their value and compute the costs anew; returns the total weight."""
    total = 0
    for v in range(cost.size):
        cost[v] = 0 if inside[v] else OUT
    for e in range(weight.size):
        weight[e] = max(1, int(KEEP * weight[e]))
        total += weight[e]
        u, v = ends[e, 0], ends[e, 1]
        if inside[u] + inside[v] == 0:
            cost[u] -= weight[e]
            cost[v] -= weight[e]
        elif inside[u] + inside[v] == 1:
            if inside[u]:
                cost[u] += weight[e]
            else:
                cost[v] += weight[e]
    return total


@njit(cache=True)
def exchanges(
    ends, first, near, edges, weight, cost, changed, stamp, open_edges, place, counts, best, n_exchanges,
    stream,
):  # fmt: skip
    """Make up to `n_exchanges` exchanges; the outside of a full cover is copied into `best` (0/1).

    counts = [uncovered edges, cover vertices, clock, total weight, last vertex put in]. Returns the number
    made, which is smaller once the cover has no two vertices to choose from.
    """
    n = cost.size
    inside = np.empty(n, np.uint8)
    for made in range(n_exchanges):
        while counts[0] == 0:
            for v in range(n):
                best[v] = cost[v] >= OUT // 2
            if counts[1] < 2:
                return made
            v = removal_choice(cost, stamp)
            take_out(v, first, near, edges, weight, cost, changed, open_edges, place, counts)
            counts[1] -= 1
        if counts[1] < 2:
            return made
        barred = counts[4]
        if barred >= 0:
            cost[barred] += OUT
        v = removal_choice(cost, stamp)
        if barred >= 0:
            cost[barred] -= OUT
        take_out(v, first, near, edges, weight, cost, changed, open_edges, place, counts)
        stamp[v] = counts[2]
        e = open_edges[draw(stream, counts[0])]
        u, v = ends[e, 0], ends[e, 1]
        if not changed[u] or (
            changed[v] and (cost[v] < cost[u] or (cost[v] == cost[u] and stamp[v] < stamp[u]))
        ):
            u = v
        put_in(u, first, near, edges, weight, cost, changed, open_edges, place, counts)
        stamp[u] = counts[2]
        counts[2] += 1
        counts[4] = u
        for i in range(counts[0]):
            e = open_edges[i]
            weight[e] += 1
            cost[ends[e, 0]] -= 1
            cost[ends[e, 1]] -= 1
        counts[3] += counts[0]
        if counts[3] > FORGET_ABOVE * n * weight.size:
            for v in range(n):
                inside[v] = cost[v] < OUT // 2
            counts[3] = forget(weight, cost, inside, ends)
    return n_exchanges


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_vertices"]
    ends, first, near, edges = numbered_edges(np.array(env_data["adj"], dtype=np.uint8))
    stream = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
    best = np.array(state.sequence, dtype=np.int32)
    inside = (1 - best).astype(np.uint8)
    weight, cost = np.ones(len(ends), np.int32), np.zeros(n, np.int32)
    changed, stamp = np.ones(n, np.uint8), np.zeros(n, np.int64)
    open_edges, place = np.zeros(len(ends), np.int32), np.zeros(len(ends), np.int32)
    counts = np.array([0, int(inside.sum()), 1, 0, -1])
    counts[3] = forget(weight, cost, inside, ends)
    n_exchanges = max(20, CHUNK_WORK // (2 * n + 8 * (2 * len(ends) // n + 1)))
    while not budget.exhausted():
        made = exchanges(
            ends, first, near, edges, weight, cost, changed, stamp, open_edges, place, counts, best,
            n_exchanges, stream,
        )  # fmt: skip
        budget.charge(made + 1)
        if made < n_exchanges:
            break
    state.sequence = best
    return state
