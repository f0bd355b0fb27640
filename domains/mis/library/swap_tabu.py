"""Adaptive multistart tabu search at a fixed size: swaps between a set with conflicts and the rest.

Method: for k one above the best size, a set of k vertices is sought that contains no edge. A move takes out a
vertex with most neighbours in the set and puts in one with fewest, adjacent to the former where possible; at
plateaus a random diversifying swap is made now and then. Both vertices are tabu for a while. After PATIENCE
moves without fewer conflicts the search starts again from vertices that were moved rarely.

Source: Q. Wu, J.-K. Hao, An adaptive multistart tabu search approach to solve the maximum clique problem,
2013.

Complexity: O(n) per move. Work units: one per move.
"""

import numpy as np
from numba import njit
from parts.xorshift import draw

PATIENCE = 10_000  # tunable: int 100..1000000
TENURE = 7  # tunable: int 1..50
DIVERSIFY = 0.1  # tunable: float 0.0..0.5

CHUNK_WORK = 4_000_000


@njit(cache=True)
def restart(adj, members, conflicts, moved, size, totals, stream):
    """Build a set of `size` vertices: rarely moved ones first, with fewest conflicts among a sample."""
    n = members.size
    members[:] = 0
    conflicts[:] = 0
    totals[0], totals[1] = 0, 0
    if moved.max() > size:
        moved[:] = 0
    for _ in range(size):
        choice = -1
        at = draw(stream, n)
        for i in range(n):
            v = at + i if at + i < n else at + i - n
            if members[v]:
                continue
            if (
                choice < 0
                or moved[v] < moved[choice]
                or (moved[v] == moved[choice] and conflicts[v] < conflicts[choice])
            ):
                choice = v
        totals[0] += conflicts[choice]
        members[choice] = 1
        for v in range(n):
            conflicts[v] += adj[choice, v]
    totals[1] = totals[0]


# exchangeable: tabu-tenure
@njit(cache=True)
def tabu_tenure(conflicts, size, base, ties):
    """Moves for which a vertex may not go back; `ties` is a random number below 2^31."""
    return min(conflicts, 10) + ties % max(size // 40, base)


@njit(cache=True)
def swap_pair(adj, members, conflicts, until, now, inner, outer, stream):
    """A tabu-free pair (leaving, joining) with the greatest fall in conflicts; -1, -1 when there is none."""
    worst, least, n_inner, n_outer = -1, 1 << 30, 0, 0
    for v in range(members.size):
        if until[v] > now:
            continue
        if members[v]:
            if conflicts[v] > worst:
                worst, n_inner = conflicts[v], 0
            if conflicts[v] == worst:
                inner[n_inner] = v
                n_inner += 1
        else:
            if conflicts[v] < least:
                least, n_outer = conflicts[v], 0
            if conflicts[v] == least:
                outer[n_outer] = v
                n_outer += 1
    if n_inner == 0 or n_outer == 0:
        return -1, -1
    shift = draw(stream, n_inner)
    for i in range(n_inner):
        u = inner[i + shift - (n_inner if i + shift >= n_inner else 0)]
        offset = draw(stream, n_outer)
        for j in range(n_outer):
            v = outer[j + offset - (n_outer if j + offset >= n_outer else 0)]
            if adj[u, v]:
                return u, v
    return inner[shift], outer[draw(stream, n_outer)]


@njit(cache=True)
def random_pair(members, conflicts, size, limit, stream):
    """A random vertex of the set and a random one outside with at least `limit` conflicts, if one is met."""
    n = members.size
    u, v = draw(stream, n), draw(stream, n)
    while not members[u]:
        u = u + 1 if u + 1 < n else 0
    for _ in range(n):
        if not members[v] and conflicts[v] >= limit:
            return u, v
        v = v + 1 if v + 1 < n else 0
    while members[v]:
        v = v + 1 if v + 1 < n else 0
    return u, v


@njit(cache=True)
def moves(adj, members, conflicts, until, moved, totals, best, density, n_moves, stream):
    """Make `n_moves` moves. totals = [conflicts, fewest since the start, moves since then, clock, size].

    A set without conflicts is copied into `best`, and the search goes on with one vertex more.
    """
    n = members.size
    inner, outer = np.empty(n, np.int32), np.empty(n, np.int32)
    for made in range(n_moves):
        while totals[0] == 0:
            best[:] = members
            if totals[4] + 1 >= n:
                return made
            totals[4] += 1
            totals[2] = 0
            moved[:] = 0
            restart(adj, members, conflicts, moved, totals[4], totals, stream)
        now, size = totals[3], totals[4]
        u, v = swap_pair(adj, members, conflicts, until, now, inner, outer, stream)
        change = 0
        if u >= 0:
            change = conflicts[v] - conflicts[u] - adj[u, v]
        chance = min((totals[0] + 2) / n, DIVERSIFY)
        if u < 0 or (change >= 0 and draw(stream, 1 << 31) < chance * (1 << 31)):
            u, v = random_pair(members, conflicts, size, int(size * density), stream)
            change = conflicts[v] - conflicts[u] - adj[u, v]
        members[u], members[v] = 0, 1
        for w in range(n):
            conflicts[w] += np.int32(adj[v, w]) - np.int32(adj[u, w])
        totals[0] += change
        until[u] = now + 1 + tabu_tenure(totals[0], size, TENURE, draw(stream, 1 << 31))
        until[v] = now + 1 + (6 * tabu_tenure(totals[0], size, TENURE, draw(stream, 1 << 31))) // 10
        moved[u] += 1
        moved[v] += 1
        totals[3] += 1
        totals[2] += 1
        if totals[0] < totals[1]:
            totals[1], totals[2] = totals[0], 0
        if totals[2] > PATIENCE and totals[0] > 0:
            totals[2] = 0
            restart(adj, members, conflicts, moved, size, totals, stream)
    return n_moves


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_vertices"]
    adj = np.array(env_data["adj"], dtype=np.uint8)
    stream = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
    best = np.array(state.sequence, dtype=np.int32)
    members = best.copy()
    conflicts = adj[best == 1].sum(axis=0, dtype=np.int32)
    until, moved = np.zeros(n, np.int64), np.zeros(n, np.int64)
    totals = np.array([0, 0, 0, 1, int(best.sum())])
    density = float(adj.mean())
    n_moves = max(20, CHUNK_WORK // (100 + 3 * n))
    while not budget.exhausted():
        made = moves(adj, members, conflicts, until, moved, totals, best, density, n_moves, stream)
        budget.charge(made + 1)
        if made < n_moves:
            break
    state.sequence = best
    return state
