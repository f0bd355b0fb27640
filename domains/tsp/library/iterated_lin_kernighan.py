"""Iterated Lin-Kernighan: sequential k-exchanges after local double bridges, undone when they do not pay.

A search step looks depth-first for an improving sequential exchange of at most ``len(BREADTHS) + 1`` edges:
t1-t2 leaves, t2-t3 enters, t3-t4 leaves, and so on, as long as the partial gain stays positive. Both tour
neighbours are tried as t4, t6, ...; that the exchange closes to one tour is checked on the sorted cuts when
closing it would pay. Applying a move rewrites all but its longest segment, and the old text of that window
goes into a journal, so undoing a kick costs what it changed and not O(n). Only cities at changed edges are
searched again (don't-look bits kept as a queue). A kick is a double bridge whose four cuts lie close together
in the plane, wherever that is on the tour. Candidates are near cities of all quadrants, for clustered maps.

Source: S. Lin, B. W. Kernighan, "An effective heuristic algorithm for the traveling-salesman problem" (1973);
O. Martin, S. W. Otto, E. W. Felten, "Large-step Markov chains for the TSP" (1991); D. Applegate, W. Cook,
A. Rohe, "Chained Lin-Kernighan for large traveling salesman problems" (2003), for random-walk kicks;
D. S. Johnson, L. A. McGeoch, "Experimental analysis of heuristics for the STSP" (2002), for quadrants.
Complexity: O(n^2) preparation; a kick costs O(prod(BREADTHS)) search steps and O(n) rewriting at worst.
Work units: one per kick.
"""

import numpy as np
from numba import njit
from parts.acceptance import cooling
from parts.cities import length_of
from parts.sequential_exchanges import MAX_CUTS, improve_from, queue_touched, rewrite

NEIGHBOURS = 10  # tunable: int 5..14
PER_QUADRANT = 2  # tunable: int 0..3
BREADTH_1 = 8  # tunable: int 3..10
BREADTH_2 = 3  # tunable: int 2..8
BREADTH_3 = 2  # tunable: int 1..6
BREADTH_4 = 0  # tunable: int 0..6
BREADTH_5 = 0  # tunable: int 0..4
WALK = 5  # tunable: int 2..50
HEAT = 0.1  # tunable: float 0.0..0.5

KICKS_PER_CHUNK = 100
JOURNAL_TOURS = 64


# exchangeable: candidate-lists
@njit(cache=True)
def candidate_cities(coords, dist, k, per_quadrant):
    """k cities to join each city to, by rising distance: int32 (n, k).

    They are the `per_quadrant` nearest of each quadrant around the city and, where there is room, the nearest
    of all.
    """
    n = dist.shape[0]
    near = np.empty((n, k), np.int32)
    width = np.zeros(5, np.int64)
    best = np.empty((5, k), np.int32)
    for city in range(n):
        width[:] = 0
        for other in range(n):
            if other == city:
                continue
            d = dist[city, other]
            quadrant = 2 * (coords[other, 0] >= coords[city, 0]) + (coords[other, 1] >= coords[city, 1])
            for group in (quadrant, 4):
                slot = width[group]
                longest = per_quadrant if group < 4 else k
                if slot == longest:
                    slot -= 1
                    if slot < 0 or d >= dist[city, best[group, slot]]:
                        continue
                else:
                    width[group] += 1
                while slot > 0 and dist[city, best[group, slot - 1]] > d:
                    best[group, slot] = best[group, slot - 1]
                    slot -= 1
                best[group, slot] = other
        filled = 0
        for group in range(5):
            for i in range(width[group]):
                other = best[group, i]
                slot = filled
                for j in range(filled):
                    if near[city, j] == other:
                        slot = -1
                if slot < 0 or filled == k:
                    continue
                while slot > 0 and dist[city, near[city, slot - 1]] > dist[city, other]:
                    near[city, slot] = near[city, slot - 1]
                    slot -= 1
                near[city, slot] = other
                filled += 1
    return near


@njit(cache=True)
def undo(tour, pos, journal, top):
    """Take back every rewriting in the journal."""
    n = tour.size
    while top > 0:
        filled = journal[top - 1]
        p = journal[top - 2]
        top -= filled + 2
        for i in range(filled):
            tour[p] = journal[top + i]
            pos[tour[p]] = p
            p += 1
            if p == n:
                p = 0


@njit(cache=True)
def descend(tour, pos, dist, near, breadths, search, spare, queue, waiting, n_queued, journal, top):
    """Empty the queue of cities to search; returns the total gain and the journal's top.

    Stops early when the journal is full, which leaves a valid tour.
    """
    n = tour.size
    head = 0
    total = 0
    while n_queued > 0:
        city = queue[head]
        head = head + 1 if head + 1 < n else 0
        n_queued -= 1
        waiting[city] = 0
        while top + n + 2 <= journal.size:
            gain, top, k = improve_from(city, tour, pos, dist, near, breadths, search, spare, journal, top)
            if k == 0:
                break
            total += gain
            n_queued = queue_touched(search, k, head, n_queued, queue, waiting)
    return total, top


# exchangeable: kick
@njit(cache=True)
def kick_cuts(tour, pos, near, rng, reach, cuts):
    """Put four different cut positions into cuts[:4], in any order; n >= 8.

    They lie behind cities that walks of `reach` random steps through the candidate lists of one city end in.
    """
    n, k = near.shape
    home = int(rng.random() * n)
    for found in range(4):
        city = home
        for _ in range(reach):
            city = near[city, int(rng.random() * k)]
        p = pos[city]
        i = 0
        while i < found:
            i += 1
            if cuts[i - 1] == p:
                p = p + 1 if p + 1 < n else 0
                i = 0
        cuts[found] = p


@njit(cache=True)
def double_bridge(tour, pos, dist, search, spare, journal, queue, waiting):
    """Exchange the segments between the four cuts, A B C D to A D C B, and queue the cities at the cuts.

    Returns the change in length, the journal's top and the number of queued cities.
    """
    n = tour.size
    cuts, rank, order = search[0], search[2], search[4]
    for i in range(1, 4):
        j = i
        while j > 0 and cuts[j - 1] > cuts[j]:
            cuts[j - 1], cuts[j] = cuts[j], cuts[j - 1]
            j -= 1
    delta = 0
    n_queued = 0
    for i in range(4):
        rank[i] = i
        order[i] = -i % 4
        before, p, q = tour[cuts[i]], cuts[i] + 1, cuts[(i + 2) % 4] + 1
        behind = tour[p if p < n else 0]
        delta += dist[before, tour[q if q < n else 0]] - dist[before, behind]
        for touched in (before, behind):
            if waiting[touched] == 0:
                waiting[touched] = 1
                queue[n_queued] = touched
                n_queued += 1
    return delta, rewrite(4, cuts, rank, order, tour, pos, spare, journal, 0), n_queued


@njit(cache=True)
def chain(tour, pos, dist, near, breadths, best, lengths, heat, kicks, rng):
    """Make `kicks` rounds of kick and descent; kicks = 0: one descent from all cities and no kick.

    lengths = [current, best]; the best tour goes to `best`.
    """
    n = tour.size
    search = np.zeros((9, 2 * MAX_CUTS), np.int64)
    spare = np.empty(n + MAX_CUTS, np.int32)
    journal = np.empty(JOURNAL_TOURS * n + 64, np.int32)
    queue = tour.copy()
    waiting = np.zeros(n, np.uint8)
    for _ in range(max(kicks, 1)):
        delta, top, n_queued = 0, 0, n
        if kicks > 0:
            kick_cuts(tour, pos, near, rng, WALK, search[0])
            delta, top, n_queued = double_bridge(tour, pos, dist, search, spare, journal, queue, waiting)
        else:
            waiting[:] = 1
        gain, top = descend(
            tour, pos, dist, near, breadths, search, spare, queue, waiting, n_queued, journal, top
        )
        change = delta - gain
        if change <= 0 or (heat > 0.0 and change < -heat * np.log(1.0 - rng.random())):
            lengths[0] += change
            if lengths[0] < lengths[1]:
                lengths[1] = lengths[0]
                best[:] = tour
        else:
            undo(tour, pos, journal, top)


def run(env_data, state, calc_makespan_fn):
    budget, rng = env_data["budget"], env_data["rng"]
    n = env_data["num_nodes"]
    if n < 8:
        return state
    dist = np.array(env_data["distance_matrix"], dtype=np.int32)
    k = min(NEIGHBOURS, n - 1)
    near = candidate_cities(env_data["coords"], dist, k, min(PER_QUADRANT, k // 4))
    widths = [width for width in (BREADTH_1, BREADTH_2, BREADTH_3, BREADTH_4, BREADTH_5) if width > 0]
    breadths = np.minimum(np.array(widths, dtype=np.int64), near.shape[1])
    tour = np.array(state.sequence, dtype=np.int32)
    pos = np.argsort(tour).astype(np.int32)
    best = tour.copy()
    length = length_of(tour, dist)
    lengths = np.array([length, length])
    before = length + 1
    while lengths[0] < before and not budget.exhausted():
        before = lengths[0]
        chain(tour, pos, dist, near, breadths, best, lengths, 0.0, 0, rng)
        budget.charge(1)
    start_heat = HEAT * lengths[1] / n
    while not budget.exhausted():
        heat = start_heat * cooling(budget.remaining())
        chain(tour, pos, dist, near, breadths, best, lengths, heat, KICKS_PER_CHUNK, rng)
        budget.charge(KICKS_PER_CHUNK)
    state.sequence = best
    return state
