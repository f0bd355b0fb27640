"""Edge weighting on the complementary vertex cover: its moves, and a search that can be continued."""

import numpy as np
from numba import njit
from parts.independent_set import first_neighbours
from parts.xorshift import draw

FORGET_ABOVE = 0.5  # tunable: float 0.05..5.0
KEEP = 0.3  # tunable: float 0.05..0.9

EXCHANGES_WORK = 4_000_000
OUT = 1 << 29
HALF_OUT = np.int32(OUT // 2)


@njit(cache=True)
def numbered_edges(adj):
    """Ends of each edge, its two slots, and per slot the neighbour and edge: ends, slots, first, near, edges.

    The slots of vertex v are first[v]..first[v + 1] - 1, one for each neighbour.
    """
    n = adj.shape[0]
    first = first_neighbours(adj)
    ends, slots = np.empty((first[n] // 2, 2), np.int32), np.empty((first[n] // 2, 2), np.int32)
    near, edges = np.empty(first[n], np.int32), np.empty(first[n], np.int32)
    at = first[:n].copy()
    e = 0
    for u in range(n):
        for v in range(u + 1, n):
            if adj[u, v]:
                ends[e, 0], ends[e, 1] = u, v
                slots[e, 0], slots[e, 1] = at[u], at[v]
                near[at[u]], edges[at[u]] = v, e
                near[at[v]], edges[at[v]] = u, e
                at[u] += 1
                at[v] += 1
                e += 1
    return ends, slots, first, near, edges


@njit(cache=True)
def take_out(v, first, near, edges, weight, cost, changed, open_edges, place, counts):
    """Remove v from the cover.

    weight: of the edge of each slot, so that those of one vertex lie side by side. cost[v]: weight of the
    edges that v alone covers; for a vertex outside the cover OUT minus the weight of its uncovered edges.
    open_edges[:counts[0]] are the uncovered edges, with place[open_edges[i]] = i.
    """
    cost[v] = OUT - cost[v]
    changed[v] = 0
    for i in range(np.uint32(first[v]), np.uint32(first[v + 1])):
        u = near[i]
        old = cost[u]
        if old < HALF_OUT:
            cost[u] = old + weight[i]
        else:
            e = edges[i]
            cost[u] = old - weight[i]
            changed[u] = 1
            place[e] = counts[0]
            open_edges[counts[0]] = e
            counts[0] += 1


@njit(cache=True)
def put_in(v, first, near, edges, weight, cost, changed, open_edges, place, counts):
    """Add v to the cover; see take_out."""
    cost[v] = OUT - cost[v]
    for i in range(np.uint32(first[v]), np.uint32(first[v + 1])):
        u = near[i]
        old = cost[u]
        if old < HALF_OUT:
            cost[u] = old - weight[i]
        else:
            e = edges[i]
            cost[u] = old + weight[i]
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
    for start in range(0, cost.size, 128):  # both minima compile into wide ones; most blocks have none
        block = cost[start : start + 128]
        low = block[0]
        for i in range(block.size):
            low = min(low, block[i])
        if low == least:
            for i in range(block.size):
                if block[i] == least and stamp[start + i] < oldest:
                    choice, oldest = start + i, stamp[start + i]
    return choice


@njit(cache=True)
def forget(weight, cost, inside, ends, slots):
    """Shrink all weights to KEEP of their value and compute the costs anew; returns the total weight."""
    total = 0
    for v in range(cost.size):
        cost[v] = 0 if inside[v] else OUT
    for e in range(len(ends)):
        lighter = max(1, int(KEEP * weight[slots[e, 0]]))
        weight[slots[e, 0]] = weight[slots[e, 1]] = lighter
        total += lighter
        u, v = ends[e, 0], ends[e, 1]
        if inside[u] + inside[v] == 0:
            cost[u] -= lighter
            cost[v] -= lighter
        elif inside[u] + inside[v] == 1:
            if inside[u]:
                cost[u] += lighter
            else:
                cost[v] += lighter
    return total


@njit(cache=True)
def exchanges(
    ends, slots, first, near, edges, weight, cost, changed, stamp, open_edges, place, counts, best,
    n_exchanges, stream,
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
            weight[slots[e, 0]] += 1
            weight[slots[e, 1]] += 1
            cost[ends[e, 0]] -= 1
            cost[ends[e, 1]] -= 1
        counts[3] += counts[0]
        if counts[3] > FORGET_ABOVE * n * len(ends):
            for v in range(n):
                inside[v] = cost[v] < OUT // 2
            counts[3] = forget(weight, cost, inside, ends, slots)
    return n_exchanges


def open_cover(adj, members, stream):
    """A search that begins with the set `members` (0/1): the arguments of `continue_cover`."""
    n = members.size
    ends, slots, first, near, edges = numbered_edges(adj)
    near = near.astype(np.uint16 if n <= 65_536 else np.uint32)  # unsigned and small: faster to index with
    best = np.array(members, dtype=np.int32)
    inside = (1 - best).astype(np.uint8)
    weight, cost = np.ones(len(near), np.int32), np.zeros(n, np.int32)
    changed, stamp = np.ones(n, np.uint8), np.zeros(n, np.int64)
    open_edges, place = np.zeros(len(ends), np.int32), np.zeros(len(ends), np.int32)
    counts = np.array([0, int(inside.sum()), 1, 0, -1])
    counts[3] = forget(weight, cost, inside, ends, slots)
    n_exchanges = max(20, EXCHANGES_WORK // (2 * n + 8 * (2 * len(ends) // n + 1)))
    arrays = (ends, slots, first, near, edges, weight, cost, changed, stamp, open_edges, place, counts, best)
    return arrays, n_exchanges, stream


def continue_cover(search, budget):
    """Make some exchanges; the best set so far (0/1), and whether there are more to make."""
    arrays, n_exchanges, stream = search
    made = exchanges(*arrays, n_exchanges, stream)
    budget.charge(made + 1)
    return arrays[-1], made == n_exchanges
