"""Lin-Kernighan descent: sequential exchanges of up to five edges until no city has an improving one.

A search step looks depth-first for an improving sequential exchange of at most ``len(BREADTHS) + 1`` edges:
t1-t2 leaves, t2-t3 enters, t3-t4 leaves, and so on, as long as the partial gain stays positive. Both tour
neighbours are tried as t4, t6, ...; that the exchange closes to one tour is checked on the sorted cuts when
closing it would pay. Applying a move rewrites all but its longest segment. Only cities at changed edges are
searched again (don't-look bits kept as a queue).

Source: S. Lin, B. W. Kernighan, "An effective heuristic algorithm for the traveling-salesman problem" (1973);
K. Helsgaun, "General k-opt submoves for the Lin-Kernighan TSP heuristic" (2009).
Complexity: O(n prod(BREADTHS)) search steps per pass, O(n) rewriting per move at worst.
Work units: one per move and one per call.
"""

import numpy as np
from numba import njit
from parts.cities import read_tour
from parts.sequential_exchanges import MAX_CUTS, improve_from, queue_touched

NEIGHBOURS = 10  # tunable: int 5..14
BREADTH_1 = 8  # tunable: int 3..10
BREADTH_2 = 5  # tunable: int 2..10
BREADTH_3 = 3  # tunable: int 0..6
BREADTH_4 = 2  # tunable: int 0..5

MOVES_PER_CHUNK = 1000


@njit(cache=True)
def descend(tour, pos, dist, near, breadths, queue, waiting, n_queued, max_moves):
    """Work on the queued cities, rotated to the queue's front; returns the moves and the queue's length."""
    n = tour.size
    search = np.zeros((9, 2 * MAX_CUTS), np.int64)
    spare, journal = np.empty(n + MAX_CUTS, np.int32), np.empty(n + 2, np.int32)
    head = 0
    moves = 0
    while n_queued > 0 and moves < max_moves:
        city = queue[head]
        _, _, k = improve_from(city, tour, pos, dist, near, breadths, search, spare, journal, 0)
        if k == 0:
            head = head + 1 if head + 1 < n else 0
            n_queued -= 1
            waiting[city] = 0
            continue
        moves += 1
        n_queued = queue_touched(search, k, head, n_queued, queue, waiting)
    if head > 0:
        for i in range(n):
            spare[i] = queue[(head + i) % n]
        queue[:] = spare[:n]
    return moves, n_queued


def run(env_data, state, calc_makespan_fn):
    budget, n = env_data["budget"], env_data["num_nodes"]
    if n < 8:
        return state
    dist, near, tour, pos = read_tour(env_data, state, NEIGHBOURS)
    widths = [width for width in (BREADTH_1, BREADTH_2, BREADTH_3, BREADTH_4) if width > 0]
    breadths = np.minimum(np.array(widths, dtype=np.int64), near.shape[1])
    queue, waiting, n_queued = tour.copy(), np.ones(n, dtype=np.uint8), n
    while n_queued > 0 and not budget.exhausted():
        moves, n_queued = descend(tour, pos, dist, near, breadths, queue, waiting, n_queued, MOVES_PER_CHUNK)
        budget.charge(moves + 1)
    state.sequence = tour
    return state
