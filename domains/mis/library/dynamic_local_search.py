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

DELAY = 2  # tunable: int 1..100

CHUNK_WORK = 2_000_000


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
def bit_rows(adj):
    """Neighbours of each vertex as bits: uint64 (n, words)."""
    n = adj.shape[0]
    rows = np.zeros((n, (n + 63) // 64), np.uint64)
    for u in range(n):
        for v in range(n):
            if adj[u, v]:
                rows[u, v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    return rows


@njit(cache=True)
def count_in(planes, carry, row):
    """Vertex with neighbours `row` enters the set: add one to the counts of its neighbours."""
    for w in range(row.size):
        carry[w] = row[w]
    for b in range(planes.shape[0]):
        left = np.uint64(0)
        for w in range(row.size):
            both = planes[b, w] & carry[w]
            planes[b, w] ^= carry[w]
            carry[w] = both
            left |= both
        if left == 0:
            break


@njit(cache=True)
def count_out(planes, carry, row):
    """Vertex with neighbours `row` leaves the set: take one from the counts of its neighbours."""
    for w in range(row.size):
        carry[w] = row[w]
    for b in range(planes.shape[0]):
        left = np.uint64(0)
        for w in range(row.size):
            planes[b, w] ^= carry[w]
            carry[w] &= planes[b, w]
            left |= carry[w]
        if left == 0:
            break


@njit(cache=True)
def candidates(planes, closed, free, level):
    """Open vertices with no neighbour in the set (`free`) and with one (`level`). Is any free?"""
    found = np.uint64(0)
    for w in range(closed.size):
        level[w] = planes[0, w]
        free[w] = 0
    for b in range(1, planes.shape[0]):
        for w in range(closed.size):
            free[w] |= planes[b, w]
    for w in range(closed.size):
        low, high = level[w], free[w]
        level[w] = low & ~high & ~closed[w]
        free[w] = ~(low | high) & ~closed[w]
        found |= free[w]
    return found != 0


@njit(cache=True)
def chosen_vertex(words, value, place, stream):
    """A vertex among the bits of `words` with smallest `value`, ties at random; -1 when there is none."""
    best, choice, ties = np.int64(1 << 60), -1, 0
    for w in range(words.size):
        word = words[w]
        while word:
            lowest = word & (~word + np.uint64(1))
            word ^= lowest
            v = 64 * w + place[lowest % np.uint64(67)]
            if value[v] < best:
                best, choice, ties = value[v], v, 1
            elif value[v] == best:
                ties += 1
                if draw(stream, ties) == 0:
                    choice = v
    return choice


@njit(cache=True)
def only_neighbour(members, row, place):
    """The one vertex of the set `members` (bits) among the neighbours `row`."""
    for w in range(row.size):
        both = members[w] & row[w]
        if both:
            return 64 * w + place[both % np.uint64(67)]
    return -1


@njit(cache=True)
def toggle(words, v):
    """Flip bit v of a bit set."""
    words[v >> 6] ^= np.uint64(1) << np.uint64(v & 63)


@njit(cache=True)
def has(words, v):
    """Whether bit v of a bit set is 1."""
    return (words[v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != 0


@njit(cache=True)
def outside(n, n_words):
    """Bits of the last word that stand for no vertex."""
    closed = np.zeros(n_words, np.uint64)
    for v in range(n, 64 * n_words):
        toggle(closed, v)
    return closed


@njit(cache=True)
def descent(rows, planes, carry, members, value, place, best, sizes, closed, free, level, stream):
    """Add and swap until every candidate was in once. Returns moves and the last vertex that entered.

    sizes = [current, best]; a larger set than the best is copied into `best` (bits). `closed` holds the
    vertices that may not enter: those in the set and those that were in it during this descent.
    """
    moves, last = 0, -1
    start, shared, is_swapping = members.copy(), np.int64(0), False
    while True:
        if candidates(planes, closed, free, level):
            v = chosen_vertex(free, value, place, stream)
            is_swapping = False
        else:
            if sizes[0] > sizes[1]:
                sizes[1] = sizes[0]
                best[:] = members
            if not is_swapping:
                is_swapping = True
                start[:] = members
                shared = sizes[0]
            if shared == 0:
                return moves, last
            v = chosen_vertex(level, value, place, stream)
            if v < 0:
                return moves, last
            u = only_neighbour(members, rows[v], place)
            toggle(members, u)
            count_out(planes, carry, rows[u])
            sizes[0] -= 1
            if has(start, u):
                shared -= 1
        toggle(members, v)
        toggle(closed, v)
        count_in(planes, carry, rows[v])
        sizes[0] += 1
        moves += 1
        last = v


@njit(cache=True)
def insert(rows, planes, carry, members, v, sizes, place):
    """Put v into the set and throw its neighbours out."""
    for w in range(members.size):
        word = members[w] & rows[v, w]
        while word:
            lowest = word & (~word + np.uint64(1))
            word ^= lowest
            u = 64 * w + place[lowest % np.uint64(67)]
            toggle(members, u)
            count_out(planes, carry, rows[u])
            sizes[0] -= 1
    if not has(members, v):
        toggle(members, v)
        count_in(planes, carry, rows[v])
        sizes[0] += 1


@njit(cache=True)
def search(rows, planes, members, penalty, state, best, sizes, place, n_moves, stream):
    """Descents until `n_moves` moves were made; state[0]: penalty rounds since the last fall."""
    n, n_words = rows.shape
    carry, free, level = (
        np.empty(n_words, np.uint64),
        np.empty(n_words, np.uint64),
        np.empty(n_words, np.uint64),
    )
    unused = outside(n, n_words)
    closed = np.empty(n_words, np.uint64)
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
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_vertices"]
    sequence = np.array(state.sequence, dtype=np.int32)
    if n < 3:
        return state
    adj = np.array(env_data["adj"], dtype=np.uint8)
    rows = bit_rows(adj)
    n_words = rows.shape[1]
    stream = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
    place = np.zeros(67, np.int64)
    for i in range(64):
        place[(1 << i) % 67] = i
    members = np.zeros(n_words, np.uint64)
    planes = np.zeros((n.bit_length(), n_words), np.uint64)
    carry = np.empty(n_words, np.uint64)
    sizes = np.zeros(2, np.int64)
    for v in np.flatnonzero(sequence):
        insert(rows, planes, carry, members, int(v), sizes, place)
    best = members.copy()
    sizes[1] = sizes[0]
    penalty, progress = np.zeros(n, np.int64), np.zeros(1, np.int64)
    n_moves = max(20, CHUNK_WORK // (100 + 20 * n_words))
    while not budget.exhausted():
        budget.charge(search(rows, planes, members, penalty, progress, best, sizes, place, n_moves, stream))
    state.sequence = np.array([int(has(best, v)) for v in range(n)], dtype=np.int32)
    return state
