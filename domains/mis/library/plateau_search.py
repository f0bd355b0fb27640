"""Plateau search: random (1,1)-swaps, with a vertex added whenever one has become free.

Method: a vertex with exactly one neighbour in the set takes its place; the vertex that left may not come back
for a few moves. The search stops after PATIENCE moves without a larger set.

Source: R. Battiti, M. Protasi, Reactive local search for the maximum clique problem, 2001 (moves and
prohibition); D. V. Andrade, M. G. C. Resende, R. F. Werneck, Fast local search for the maximum independent
set problem, 2012 (data structure).

Complexity: O(degree) per move. Work units: one per move.
"""

import numpy as np
from numba import njit
from parts.independent_set import copy_set, enter, leave, open_set
from parts.xorshift import draw

PATIENCE = 20_000  # tunable: int 100..10000000
TENURE = 7  # tunable: int 0..100
TRIES = 60  # tunable: int 5..1000

CHUNK_WORK = 2_000_000
TRAIL = 1


@njit(cache=True)
def swap_choice(order, size, tight, until, now, tries, stream):
    """A vertex with one neighbour in the set and no prohibition at `now`; -1 when none of `tries` draws is.

    order[:size] is the set; until[v]: the move up to which v may not enter.
    """
    for _ in range(tries):
        v = order[size + draw(stream, order.size - size)]
        if tight[v] == 1 and until[v] < now:
            return v
    return -1


@njit(cache=True)
def moves(first, near, order, place, tight, counts, trail, until, best, n_moves, stream):
    """Make `n_moves` moves; counts[3]: moves since the best set grew. Copies larger sets into `best`."""
    most = best.sum()
    for _ in range(n_moves):
        counts[3] += 1
        now = counts[2]
        if counts[1] > 0:
            v = order[counts[0] + draw(stream, counts[1])]
        elif counts[0] < order.size:
            v = swap_choice(order, counts[0], tight, until, now, TRIES, stream)
        else:
            v = -1
        if v < 0:
            counts[2] += 1
            continue
        if tight[v] == 1:
            for i in range(first[v], first[v + 1]):
                u = near[i]
                if place[u] < counts[0]:
                    leave(u, first, near, order, place, tight, counts, trail)
                    until[u] = now + 1 + draw(stream, TENURE + 1)
                    break
        enter(v, first, near, order, place, tight, counts, trail)
        if counts[0] > most:
            most = copy_set(order, counts[0], best)
            counts[3] = 0


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until PATIENCE moves brought nothing or the share of the budget is spent."""
    budget, n = env_data["budget"], env_data["num_vertices"]
    _adj, stream, best, lists = open_set(env_data, state, TRAIL)
    first, near, order, place, tight, counts, trail = lists
    until = np.full(n, -1, np.int64)
    n_moves = max(20, CHUNK_WORK // (40 + 4 * (len(near) // n + 1)))
    while counts[3] < PATIENCE and not budget.exhausted():
        moves(first, near, order, place, tight, counts, trail, until, best, n_moves, stream)
        budget.charge(n_moves)
    state.sequence = best
    return state
