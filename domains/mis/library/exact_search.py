"""Branch and bound with clique-cover bounds, for as long as the budget allows.

Method: the candidates of a node are covered greedily by cliques; a set can take one vertex of each, so a
vertex in clique number c is branched on only when c more vertices could beat the best set. Bit sets hold
candidates; the search keeps its stack between chunks and stops when it has proven the best set largest.

Source: P. San Segundo, D. Rodriguez-Losada, A. Jimenez, An exact bit-parallel algorithm for the maximum
clique problem, 2011; E. Tomita, T. Seki, An efficient branch-and-bound algorithm for finding a maximum
clique, 2003.

Complexity: exponential; O(n^2 / 64) word operations per node. Work units: one per node.
"""

import numpy as np
from numba import njit
from parts.bit_sets import bit_rows

MAX_CELLS = 16_000_000  # tunable: int 100000..200000000

CHUNK_WORK = 4_000_000


# exchangeable: branching-order
@njit(cache=True)
def branching_order(adj):
    """Vertices in the order in which the clique cover takes them: of largest degree last, repeatedly."""
    n = adj.shape[0]
    degree, gone, ranked = np.zeros(n, np.int64), np.zeros(n, np.uint8), np.zeros(n, np.int64)
    for u in range(n):
        for v in range(n):
            degree[u] += adj[u, v]
    for i in range(n):
        pick = -1
        for v in range(n):
            if not gone[v] and (pick < 0 or degree[v] > degree[pick]):
                pick = v
        gone[pick] = 1
        ranked[n - 1 - i] = pick
        for v in range(n):
            degree[v] -= adj[pick, v]
    return ranked


@njit(cache=True)
def cover(rows, open_set, left, clique, place, need, listed, bound):
    """Cover `open_set` by cliques; list the vertices of clique numbers above `need`. Returns their number."""
    n_words = open_set.size
    n_listed, number = 0, 0
    left[:] = open_set
    while True:
        some = np.uint64(0)
        for w in range(n_words):
            clique[w] = left[w]
            some |= left[w]
        if some == 0:
            return n_listed
        number += 1
        for w in range(n_words):
            while clique[w]:
                lowest = clique[w] & (~clique[w] + np.uint64(1))
                v = 64 * w + place[lowest % np.uint64(67)]
                left[w] ^= lowest
                for k in range(w, n_words):
                    clique[k] &= rows[v, k]
                if number > need:
                    listed[n_listed] = v
                    bound[n_listed] = number
                    n_listed += 1


@njit(cache=True)
def nodes(rows, open_sets, listed, bound, n_listed, path, place, best, state, n_nodes):
    """Expand up to `n_nodes` nodes; state = [depth, best size]. Depth -1: the search is complete."""
    n_words = rows.shape[1]
    left, clique = np.empty(n_words, np.uint64), np.empty(n_words, np.uint64)
    made = 0
    while state[0] >= 0 and made < n_nodes:
        d = state[0]
        i = n_listed[d] - 1
        n_listed[d] = i
        if i < 0 or d + bound[d, i] <= state[1]:
            state[0] -= 1
            continue
        made += 1
        v = listed[d, i]
        path[d] = v
        open_sets[d, v >> 6] ^= np.uint64(1) << np.uint64(v & 63)
        some = np.uint64(0)
        for w in range(n_words):
            open_sets[d + 1, w] = open_sets[d, w] & ~rows[v, w]
            some |= open_sets[d + 1, w]
        if d + 1 > state[1]:
            state[1] = d + 1
            best[:] = 0
            for k in range(d + 1):
                best[path[k]] = 1
        if some:
            need = state[1] - (d + 1)
            n_listed[d + 1] = cover(
                rows, open_sets[d + 1], left, clique, place, need, listed[d + 1], bound[d + 1]
            )
            state[0] = d + 1
    return made


def run(env_data, state, calc_makespan_fn):
    """Search for sets larger than that of `state`; stops with a proof or when the share is spent.

    Leaves `state` alone when the stack would take more than MAX_CELLS numbers.
    """
    budget, n = env_data["budget"], env_data["num_vertices"]
    if n * n > MAX_CELLS:
        return state
    adj = np.array(env_data["adj"], dtype=np.uint8)
    sequence = np.array(state.sequence, dtype=np.int32)
    ranked = branching_order(adj)
    rows = bit_rows(np.ascontiguousarray(adj[ranked][:, ranked]))
    n_words = rows.shape[1]
    place = np.zeros(67, np.int64)
    for i in range(64):
        place[(1 << i) % 67] = i
    best = sequence[ranked]
    progress = np.array([0, int(best.sum())])
    everything = np.zeros(n_words, np.uint64)
    for v in range(n):
        everything[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    left, clique = np.zeros(n_words, np.uint64), np.zeros(n_words, np.uint64)
    listed, bound = np.zeros(n, np.int32), np.zeros(n, np.int32)
    cover(rows, everything, left, clique, place, 0, listed, bound)
    depth = int(bound.max()) + 2
    budget.charge(1)
    if depth * n > MAX_CELLS:
        return state
    listed, bound = np.zeros((depth, n), np.int32), np.zeros((depth, n), np.int32)
    open_sets, n_listed = np.zeros((depth, n_words), np.uint64), np.zeros(depth, np.int64)
    open_sets[0], path = everything, np.zeros(depth, np.int64)
    n_listed[0] = cover(rows, open_sets[0], left, clique, place, progress[1], listed[0], bound[0])
    n_nodes = max(20, CHUNK_WORK // (50 + 2 * n * n_words))
    while progress[0] >= 0 and not budget.exhausted():
        budget.charge(nodes(rows, open_sets, listed, bound, n_listed, path, place, best, progress, n_nodes))
    sequence[ranked] = best
    state.sequence = sequence
    return state
