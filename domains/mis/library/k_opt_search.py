"""Variable-depth local search: chains of additions and removals, cut back to their best prefix.

Method: in a chain, a free vertex with fewest free neighbours is added; when none is free, the vertex whose
removal frees most vertices is taken out. Each vertex moves once per chain. A chain is kept up to its largest
set, and the next begins there while sets grow; then KICK random vertices are forced in and the
descent starts again. A set smaller by more than SLACK than the best is given up for the best one.

Source: K. Katayama, A. Hamamoto, H. Narihisa, An effective local search for the maximum clique problem, 2005;
K. Katayama, M. Sadamatsu, H. Narihisa, Iterated k-opt local search for the maximum clique problem, 2007.

Complexity: O(n + degree^2) per move. Work units: one per move.
"""

import numpy as np
from numba import njit
from parts.independent_set import copy_set, enter, force, leave, loaded, open_set
from parts.xorshift import draw

DEPTH = 60  # tunable: int 4..2000
KICK = 1  # tunable: int 1..20
SLACK = 2  # tunable: int 0..20

CHUNK_WORK = 4_000_000
TRAIL = 100_000


# exchangeable: addition-choice
@njit(cache=True)
def addition_choice(order, place, size, free, first, near, moved, ties):
    """The unmoved vertex of order[size:size + free] with fewest free neighbours; -1 when all have moved.

    `ties` is a random number below 2^31.
    """
    best, choice = 1 << 60, -1
    for i in range(free):
        v = order[size + (ties + i) % free]
        if moved[v]:
            continue
        crossed = 0
        for j in range(first[v], first[v + 1]):
            crossed += size <= place[near[j]] < size + free
        if crossed < best:
            best, choice = crossed, v
    return choice


@njit(cache=True)
def removal(order, size, tight, first, near, place, moved, freed, stream):
    """The unmoved vertex of the set whose removal frees most unmoved vertices; -1 when all have moved."""
    for i in range(size):
        freed[order[i]] = 0
    for i in range(size, order.size):
        w = order[i]
        if tight[w] == 1 and not moved[w]:
            for j in range(first[w], first[w + 1]):
                if place[near[j]] < size:
                    freed[near[j]] += 1
                    break
    best, choice, ties = 0, -1, 0
    for i in range(size):
        v = order[i]
        if moved[v] or freed[v] < best:
            continue
        if freed[v] > best or choice < 0:
            best, choice, ties = freed[v], v, 1
        else:
            ties += 1
            if draw(stream, ties) == 0:
                choice = v
    return choice


@njit(cache=True)
def chain(first, near, order, place, tight, counts, trail, moved, freed, stream):
    """One chain, cut back to its largest set; counts[3] += moves. Says whether the set grew."""
    moved[:] = 0
    counts[2] = 0
    start, most, length = counts[0], counts[0], 0
    for _ in range(DEPTH):
        v = -1
        if counts[1] > 0:
            v = addition_choice(order, place, counts[0], counts[1], first, near, moved, draw(stream, 1 << 31))
        if v >= 0:
            enter(v, first, near, order, place, tight, counts, trail)
        else:
            v = removal(order, counts[0], tight, first, near, place, moved, freed, stream)
            if v < 0:
                break
            leave(v, first, near, order, place, tight, counts, trail)
        moved[v] = 1
        counts[3] += 1
        if counts[0] > most:
            most, length = counts[0], counts[2]
    while counts[2] > length:
        last = counts[2] - 1
        if trail[last] > 0:
            leave(trail[last] - 1, first, near, order, place, tight, counts, trail)
        else:
            enter(-trail[last] - 1, first, near, order, place, tight, counts, trail)
        counts[2] = last
    return most > start


@njit(cache=True)
def chains(first, near, order, place, tight, counts, trail, moved, freed, best, n_moves, stream):
    """Chains and kicks until `n_moves` moves were made; copies larger sets into `best`."""
    n, most = order.size, best.sum()
    end = counts[3] + n_moves
    while counts[3] < end:
        grew = chain(first, near, order, place, tight, counts, trail, moved, freed, stream)
        counts[3] += 1
        if counts[0] > most:
            most = copy_set(order, counts[0], best)
        if grew:
            continue
        if counts[0] < most - SLACK:
            loaded(best, first, near, order, place, tight, counts, trail)
        for _ in range(KICK):
            if counts[0] < n:
                v = order[counts[0] + draw(stream, n - counts[0])]
                force(v, first, near, order, place, tight, counts, trail)


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    budget, n = env_data["budget"], env_data["num_vertices"]
    _adj, stream, best, lists = open_set(env_data, state, TRAIL)
    first, near, order, place, tight, counts, trail = lists
    moved, freed = np.zeros(n, np.uint8), np.zeros(n, np.int32)
    n_moves = max(20, CHUNK_WORK // (100 + 8 * n + 8 * (len(near) // n + 1)))
    while not budget.exhausted():
        before = int(counts[3])
        chains(first, near, order, place, tight, counts, trail, moved, freed, best, n_moves, stream)
        budget.charge(int(counts[3]) - before)
    state.sequence = best
    return state
