"""Optimised crossover: the largest independent set in the union of two parents, found exactly.

Method: the vertices in which two independent sets differ span a bipartite graph, so a largest independent set
of their union follows from a maximum matching (Konig). Parents come from a pool of sets improved by
(1,2)-swaps; a child is filled up, disturbed by one forced vertex, improved, and replaces the smallest set
of the pool unless it is smaller.

Source: C. C. Aggarwal, J. B. Orlin, R. P. Tai, Optimized crossover for the independent set problem, 1997.

Complexity: O(k m) per child in the worst case, k: size of a set. Work units: one per
vertex that joins or leaves.
"""

import numpy as np
from numba import njit
from parts.independent_set import fill, force, loaded, open_set, two_improvement
from parts.xorshift import draw

POOL = 12  # tunable: int 2..200
MUTATION = 0.1  # tunable: float 0.0..1.0

CHUNK_WORK = 2_000_000
TRAIL = 1


@njit(cache=True)
def improve(adj, first, near, order, place, tight, counts, trail, single, stream):
    """Fill up and make (1,2)-swaps until no vertex of the set can be replaced."""
    fill(first, near, order, place, tight, counts, trail, stream)
    is_improving = True
    while is_improving:
        is_improving = False
        for i in range(counts[0] - 1, -1, -1):
            if i >= counts[0]:
                continue
            if two_improvement(
                order[i], adj, first, near, order, place, tight, counts, trail, single, stream
            ):
                fill(first, near, order, place, tight, counts, trail, stream)
                is_improving = True


@njit(cache=True)
def matched(u, first, near, other, mate, seen, stack, step):
    """Look for an augmenting path from u over the vertices with other[v] = 1; says whether there was one."""
    depth = 0
    stack[0] = u
    step[u] = first[u]
    while depth >= 0:
        u = stack[depth]
        if step[u] == first[u + 1]:
            depth -= 1
            continue
        v = near[step[u]]
        step[u] += 1
        if not other[v] or seen[v]:
            continue
        seen[v] = 1
        if mate[v] < 0:
            for d in range(depth, -1, -1):
                w = stack[d]
                v = near[step[w] - 1]
                mate[v] = w
                mate[w] = v
            return True
        depth += 1
        stack[depth] = mate[v]
        step[mate[v]] = first[mate[v]]
    return False


@njit(cache=True)
def merge(mother, father, first, near, child, mate, stack, step):
    """A largest independent set of the union of two, written into `child` (0/1)."""
    n = child.size
    other, seen = np.zeros(n, np.uint8), np.zeros(n, np.uint8)
    for v in range(n):
        other[v] = father[v] > mother[v]
        child[v] = mother[v] & father[v]
        mate[v] = -1
    for u in range(n):
        if mother[u] > father[u]:
            seen[:] = 0
            matched(u, first, near, other, mate, seen, stack, step)
    seen[:] = 0
    for u in range(n):
        if mother[u] > father[u] and mate[u] < 0:
            matched(u, first, near, other, mate, seen, stack, step)
            child[u] = 1
    for v in range(n):
        if other[v] and seen[v]:
            child[mate[v]] = 1
        elif other[v]:
            child[v] = 1


# exchangeable: parents
@njit(cache=True)
def parents(sizes, ties):
    """Two different rows of the pool, the first by a tournament. `sizes`: their set sizes.

    `ties` is a random number below 2^31.
    """
    n = sizes.size
    a, b = ties % n, (ties // n) % n
    mother = a if sizes[a] >= sizes[b] else b
    father = (ties // (n * n)) % (n - 1)
    return mother, father + (father >= mother)


@njit(cache=True)
def child_of(
    a, b, pool, sizes, adj, first, near, order, place, tight, counts, trail, single, child, mate, stack, step,
    stream,
):  # fmt: skip
    """Merge rows a and b of the pool, disturb and improve the child, and enter it for the smallest row."""
    merge(pool[a], pool[b], first, near, child, mate, stack, step)
    loaded(child, first, near, order, place, tight, counts, trail)
    fill(first, near, order, place, tight, counts, trail, stream)
    forced = 1 + int(MUTATION * counts[0])
    for _ in range(forced):
        if counts[0] < order.size:
            v = order[counts[0] + draw(stream, order.size - counts[0])]
            force(v, first, near, order, place, tight, counts, trail)
    improve(adj, first, near, order, place, tight, counts, trail, single, stream)
    worst = 0
    for i in range(sizes.size):
        if sizes[i] < sizes[worst]:
            worst = i
    if counts[0] < sizes[worst]:
        return
    child[:] = 0
    for i in range(counts[0]):
        child[order[i]] = 1
    for i in range(sizes.size):
        if sizes[i] == counts[0]:
            same = True
            for v in range(child.size):
                if pool[i, v] != child[v]:
                    same = False
                    break
            if same:
                return
    pool[worst, :] = child
    sizes[worst] = counts[0]


def run(env_data, state, calc_makespan_fn):
    """Evolve a pool around `state` until the share of the budget is spent."""
    budget, n = env_data["budget"], env_data["num_vertices"]
    adj, stream, best, lists = open_set(env_data, state, TRAIL)
    first, near, order, place, tight, counts, trail = lists
    single, child = np.zeros(n, np.int32), np.zeros(n, np.int32)
    mate, stack, step = np.zeros(n, np.int32), np.zeros(n + 1, np.int32), np.zeros(n, np.int64)
    pool, sizes = np.zeros((POOL, n), np.int32), np.zeros(POOL, np.int64)
    pool[0] = best
    sizes[0] = counts[0]
    filled = 1
    while filled < POOL and not budget.exhausted():
        child[:] = 0
        before = int(counts[4])
        loaded(child, first, near, order, place, tight, counts, trail)
        improve(adj, first, near, order, place, tight, counts, trail, single, stream)
        pool[filled][order[: counts[0]]] = 1
        sizes[filled] = counts[0]
        filled += 1
        budget.charge(int(counts[4]) - before + 1)
    while filled == POOL and not budget.exhausted():
        before = int(counts[4])
        a, b = parents(sizes, draw(stream, 1 << 31))
        child_of(
            a, b, pool, sizes, adj, first, near, order, place, tight, counts, trail, single, child, mate,
            stack, step, stream,
        )  # fmt: skip
        budget.charge(int(counts[4]) - before + 1)
    state.sequence = pool[int(np.argmax(sizes))].copy()
    return state
