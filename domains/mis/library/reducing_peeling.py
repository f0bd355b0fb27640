"""Reducing and peeling: exact reductions while there are any, otherwise a vertex is put aside.

Method: a vertex of degree 0 or 1 is taken; one of degree 2 with adjacent neighbours too; a vertex whose
closed neighbourhood contains that of a neighbour of degree at most DOMINATION is dropped. Where none of this
applies, a vertex of largest degree is dropped without a proof; at the end dropped vertices that fit join.

Source: L. Chang, W. Li, W. Zhang, Computing a near-maximum independent set in linear time by
reducing-peeling, 2017; F. V. Fomin, F. Grandoni, D. Kratsch, A measure and conquer approach for the analysis
of exact algorithms, 2009 (domination).

Complexity: O(n (n + degree DOMINATION)). Work units: one per vertex taken or dropped.
"""

import numpy as np
from numba import njit
from parts.independent_set import neighbour_lists
from parts.xorshift import draw

DOMINATION = 8  # tunable: int 0..100

CHUNK_WORK = 2_000_000


@njit(cache=True)
def drop(v, first, near, alive, degree):
    """Take v out of the remaining graph."""
    alive[v] = 0
    for i in range(first[v], first[v + 1]):
        degree[near[i]] -= 1


@njit(cache=True)
def take(v, first, near, alive, degree, chosen):
    """Put v into the set and drop it with its neighbours."""
    chosen[v] = 1
    drop(v, first, near, alive, degree)
    for i in range(first[v], first[v + 1]):
        if alive[near[i]]:
            drop(near[i], first, near, alive, degree)


@njit(cache=True)
def dominated(u, adj, first, near, alive):
    """A neighbour of u adjacent to all its other neighbours; -1 when there is none."""
    for i in range(first[u], first[u + 1]):
        v = near[i]
        if not alive[v]:
            continue
        covers = True
        for j in range(first[u], first[u + 1]):
            w = near[j]
            if alive[w] and w != v and not adj[v, w]:
                covers = False
                break
        if covers:
            return v
    return -1


# exchangeable: peeling-choice
@njit(cache=True)
def peeling_choice(alive, degree, ties):
    """The vertex to drop when nothing can be reduced; `ties` is a random number below 2^31."""
    most, equals = -1, 0
    for v in range(alive.size):
        if alive[v]:
            if degree[v] > most:
                most, equals = degree[v], 0
            equals += degree[v] == most
    wanted = ties % equals
    for v in range(alive.size):
        if alive[v] and degree[v] == most:
            if wanted == 0:
                return v
            wanted -= 1
    return -1


@njit(cache=True)
def steps(adj, first, near, alive, degree, chosen, n_steps, stream):
    """Reduce or peel `n_steps` times; returns the number of steps made, fewer when no vertex is left."""
    n = alive.size
    for made in range(n_steps):
        low = -1
        for v in range(n):
            if alive[v] and (low < 0 or degree[v] < degree[low]):
                low = v
        if low < 0:
            return made
        if degree[low] <= 1:
            take(low, first, near, alive, degree, chosen)
            continue
        victim = -1
        for v in range(n):
            if alive[v] and degree[v] <= DOMINATION:
                victim = dominated(v, adj, first, near, alive)
                if victim >= 0:
                    break
        if victim < 0:
            victim = peeling_choice(alive, degree, draw(stream, 1 << 31))
        drop(victim, first, near, alive, degree)
    return n_steps


def run(env_data, state, calc_makespan_fn):
    """Give `state` one set; vertices are left out when the share of the budget ends first."""
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_vertices"]
    adj = np.array(env_data["adj"], dtype=np.uint8)
    first, near = neighbour_lists(adj)
    stream = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
    degree = np.diff(first)
    alive, chosen = np.ones(n, np.uint8), np.zeros(n, np.int32)
    n_steps = max(5, CHUNK_WORK // (20 + 6 * n))
    while True:
        made = steps(adj, first, near, alive, degree, chosen, n_steps, stream)
        budget.charge(made)
        if made < n_steps or budget.exhausted():
            break
    blocked = adj[chosen == 1].any(axis=0)
    for v in rng.permutation(np.flatnonzero(~blocked & (chosen == 0))):
        if not blocked[v]:
            chosen[v] = 1
            blocked |= adj[v] == 1
    state.sequence = chosen
    return state
