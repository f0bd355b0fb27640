"""Dynamic local search: additions and swaps steered by penalties of vertices met before (DLS-MC).

Method: a set grows by vertices without neighbour in it; when there are none, a vertex with exactly one
neighbour in the set takes that neighbour's place. Candidates are chosen by smallest penalty. At the end of a
descent the vertices of the set are penalised; every DELAY-th time all penalties fall by one. With a DELAY
above 1 the next descent begins with the vertex that entered last alone, otherwise a random vertex is forced
in. The numbers of neighbours in the set are kept bit-sliced: word w of plane b holds bit b of the counts of
vertices 64 w to 64 w + 63.

Source: W. Pullan, H. H. Hoos, Dynamic local search for the maximum clique problem, 2006.

Complexity: O(n / 64 log k) word operations per move, k: size of the set. Work units: one per move.
"""

import numpy as np
from numba import njit
from parts.bit_sets import descent, has, insert, open_bits, work_words
from parts.xorshift import draw

DELAY = 2  # tunable: int 1..100

CHUNK_WORK = 2_000_000


@njit(cache=True)
def search(rows, planes, members, penalty, state, best, sizes, place, n_moves, stream):
    """Descents until `n_moves` moves were made; state[0]: penalty rounds since the last fall."""
    n, n_words = rows.shape
    unused, carry, free, level, closed = work_words(n, n_words)
    moves = 0
    while moves < n_moves:
        closed[:] = unused | members
        made, last = descent(
            rows, planes, carry, members, penalty, place, best, sizes, closed, free, level, stream
        )
        moves += made + 1
        for v in range(n):
            if has(members, v):
                penalty[v] += 1
        state[0] += 1
        if state[0] >= DELAY:
            state[0] = 0
            for v in range(n):
                penalty[v] = max(penalty[v] - 1, 0)
        v = draw(stream, n)
        if DELAY > 1 and last >= 0:
            v = last
            members[:] = 0
            planes[:] = 0
            sizes[0] = 0
        insert(rows, planes, carry, members, v, sizes, place)
    return moves


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    budget, n = env_data["budget"], env_data["num_vertices"]
    if n < 3:
        return state
    (rows, planes, members, best, sizes, place), _adj, stream = open_bits(env_data, state)
    penalty, progress = np.zeros(n, np.int64), np.zeros(1, np.int64)
    n_moves = max(20, CHUNK_WORK // (100 + 20 * rows.shape[1]))
    while not budget.exhausted():
        budget.charge(search(rows, planes, members, penalty, progress, best, sizes, place, n_moves, stream))
    state.sequence = np.array([int(has(best, v)) for v in range(n)], dtype=np.int32)
    return state
