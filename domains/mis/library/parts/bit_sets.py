"""Sets of vertices as bits of 64-bit words, and descents by additions and swaps on them.

Counts of neighbours in the set are bits, too: plane b holds bit b of the counts of all vertices.
"""

import numpy as np
from numba import njit
from parts.xorshift import draw


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
def work_words(n, n_words):
    """What `outside` gives, and four arrays of words to work in."""
    first, second = np.empty(n_words, np.uint64), np.empty(n_words, np.uint64)
    third, fourth = np.empty(n_words, np.uint64), np.empty(n_words, np.uint64)
    return outside(n, n_words), first, second, third, fourth


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


def open_bits(env_data, state):
    """What a search begins with: :func:`bits_of` the set, the adjacency, a random stream."""
    adj, rows = env_data["prepared"](read_rows)
    stream = np.array([env_data["rng"].integers(1, 2**62)], dtype=np.uint64)
    return bits_of(rows, state.sequence), adj, stream


def read_rows(env_data):
    """Adjacency, uint8, and :func:`bit_rows` of it."""
    adj = np.array(env_data["adj"], dtype=np.uint8)
    return adj, bit_rows(adj)


def bits_of(rows, sequence):
    """Arrays for the set given by the 0/1 vector `sequence`: rows, planes, members and a copy of them, sizes
    (now, best), and the number of a bit by its value modulo 67.
    """
    n_words = rows.shape[1]
    place = np.zeros(67, np.int64)
    for i in range(64):
        place[(1 << i) % 67] = i
    members = np.zeros(n_words, np.uint64)
    planes = np.zeros((len(rows).bit_length(), n_words), np.uint64)
    carry = np.empty(n_words, np.uint64)
    sizes = np.zeros(2, np.int64)
    for v in np.flatnonzero(sequence):
        insert(rows, planes, carry, members, int(v), sizes, place)
    best = members.copy()
    sizes[1] = sizes[0]
    return rows, planes, members, best, sizes, place
