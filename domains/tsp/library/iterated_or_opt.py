"""Iterated 2-opt and Or-opt: repair a local double bridge by descent, keep the result if it is good enough.

Every change of the tour is a reversal of positions; the reversals since the last kick are kept in a journal
and played backwards when the result is refused. Only cities at changed edges are searched (don't-look bits as
a queue). Acceptance: never worse by more than an exponential variate of mean HEAT mean edges, cooled to 0.
Source: O. Martin, S. W. Otto, E. W. Felten, "Large-step Markov chains for the traveling salesman problem"
(1991); H. R. Lourenco, O. C. Martin, T. Stutzle, "Iterated local search" (2003).
Complexity: O(n^2) preparation, O(n) per kick at worst. Work units: one per kick.
"""

import numpy as np
from numba import njit
from parts.acceptance import cooling
from parts.cities import length_of, read_tour
from parts.tour_arrays import reverse, turn

NEIGHBOURS = 8  # tunable: int 4..14
SEGMENT = 3  # tunable: int 1..6
KICK_SEGMENT = 30  # tunable: int 3..100
HEAT = 0.1  # tunable: float 0.0..0.5

KICKS_PER_CHUNK = 1000
JOURNAL_CITIES = 64


@njit(cache=True)
def swap_edges(tour, pos, a, b, c, d, journal, top):
    """Replace edges a-b, c-d by a-c, b-d (b follows a, d follows c in one direction); returns the new top."""
    p = pos[a] + 1
    if p == tour.size:
        p = 0
    first, last = (p, pos[c]) if tour[p] == b else (pos[a], pos[d])
    reverse(tour, pos, first, last)
    journal[top, 0], journal[top, 1] = first, last
    return top + 1


@njit(cache=True)
def improve_city(city, tour, pos, dist, near, journal, top, touched):
    """First improving reversal or segment move at `city`: gain (0: none), journal's top, cities touched."""
    n = tour.size
    for side in range(2):
        p = pos[city]
        step = 1 if side == 0 else -1
        after = tour[(p + step) % n]
        old = dist[city, after]
        for i in range(near.shape[1]):
            other = near[city, i]
            opened = old - dist[city, other]
            if opened <= 0:
                break
            q = pos[other]
            beyond, short_of = tour[(q + step) % n], tour[(q - step) % n]
            gain = opened + dist[other, beyond] - dist[after, beyond]
            if gain > 0:
                touched[0], touched[1], touched[2], touched[3] = city, after, other, beyond
                return gain, swap_edges(tour, pos, city, after, other, beyond, journal, top), 4
            # the segment far..city, read in direction `step`, goes between other and one of its neighbours
            ahead = (q - p) * step % n
            for size in range(1, min(SEGMENT, n - ahead - 1) + 1):
                far = tour[(p - step * (size - 1)) % n]
                outer = tour[(p - step * size) % n]
                removed = opened + dist[outer, far] - dist[outer, after]
                if outer != other and outer != beyond:
                    gain = removed + dist[other, beyond] - dist[far, beyond]
                    if gain > 0:
                        top = swap_edges(tour, pos, outer, far, other, beyond, journal, top)
                        top = swap_edges(tour, pos, outer, other, after, city, journal, top)
                        touched[0], touched[1], touched[2] = city, after, other
                        touched[3], touched[4], touched[5] = beyond, far, outer
                        return gain, top, 6
                if outer != other and short_of != city:
                    gain = removed + dist[other, short_of] - dist[far, short_of]
                    if gain > 0:
                        top = swap_edges(tour, pos, outer, far, short_of, other, journal, top)
                        top = swap_edges(tour, pos, outer, short_of, after, city, journal, top)
                        top = swap_edges(tour, pos, short_of, city, far, other, journal, top)
                        touched[0], touched[1], touched[2] = city, after, other
                        touched[3], touched[4], touched[5] = short_of, far, outer
                        return gain, top, 6
    return 0, top, 0


# exchangeable: bridge-sizes
@njit(cache=True)
def bridge_sizes(n, rng, longest, sizes):
    """Draw the lengths of the three neighbouring segments that a double bridge exchanges; n >= 8."""
    longest = min(longest, (n - 2) // 3)
    for i in range(3):
        sizes[i] = 1 + int(rng.random() * longest)


@njit(cache=True)
def kick(tour, pos, dist, journal, sizes, rng, queue, waiting):
    """Exchange neighbouring segments B C D to D C B; returns the change, the top and the queue's length."""
    n = tour.size
    bridge_sizes(n, rng, KICK_SEGMENT, sizes)
    start = int(rng.random() * n)
    total = sizes[0] + sizes[1] + sizes[2]
    change = 0
    p = start
    n_queued = 0
    for i in range(4):
        before, behind = tour[p - 1], tour[p]
        change -= dist[before, behind]
        for city in (before, behind):
            if waiting[city] == 0:
                waiting[city] = 1
                queue[n_queued] = city
                n_queued += 1
        if i < 3:
            p = (p + sizes[i]) % n
    first = start
    journal[0, 0], journal[0, 1] = start, (start + total - 1) % n
    for i in range(3):
        size = sizes[2 - i]
        journal[i + 1, 0], journal[i + 1, 1] = first, (first + size - 1) % n
        first = (first + size) % n
    for i in range(4):
        turn(tour, pos, journal[i, 0], journal[i, 1])
    p = start
    for i in range(4):
        change += dist[tour[p - 1], tour[p]]
        if i < 3:
            p = (p + sizes[2 - i]) % n
    return change, 4, n_queued


@njit(cache=True)
def chain(tour, pos, dist, near, best, lengths, heat, kicks, rng):
    """`kicks` rounds of kick and descent; 0: one descent from all cities. lengths = [current, best]."""
    n = tour.size
    journal = np.empty((JOURNAL_CITIES * n + 64, 2), np.int32)
    queue = tour.copy()
    waiting = np.zeros(n, np.uint8)
    touched = np.zeros(6, np.int64)
    sizes = np.zeros(3, np.int64)
    for _ in range(max(kicks, 1)):
        change, top, n_queued = 0, 0, n
        if kicks > 0:
            change, top, n_queued = kick(tour, pos, dist, journal, sizes, rng, queue, waiting)
        else:
            waiting[:] = 1
        head = 0
        while n_queued > 0:
            city = queue[head]
            head = head + 1 if head + 1 < n else 0
            n_queued -= 1
            waiting[city] = 0
            while top + 4 < journal.shape[0]:
                gain, top, n_touched = improve_city(city, tour, pos, dist, near, journal, top, touched)
                if n_touched == 0:
                    break
                change -= gain
                for i in range(n_touched):
                    if waiting[touched[i]] == 0:
                        waiting[touched[i]] = 1
                        queue[(head + n_queued) % n] = touched[i]
                        n_queued += 1
        if change <= 0 or (heat > 0.0 and change < -heat * np.log(1.0 - rng.random())):
            lengths[0] += change
            if lengths[0] < lengths[1]:
                lengths[1] = lengths[0]
                best[:] = tour
        else:
            while top > 4:
                top -= 1
                reverse(tour, pos, journal[top, 0], journal[top, 1])
            for i in range(3, -1, -1):
                turn(tour, pos, journal[i, 0], journal[i, 1])


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    if n < 8:
        return state
    dist, near, tour, pos = read_tour(env_data, state, NEIGHBOURS)
    best = tour.copy()
    length = length_of(tour, dist)
    lengths = np.array([length, length])
    before = length + 1
    while lengths[0] < before and not budget.exhausted():
        before = lengths[0]
        chain(tour, pos, dist, near, best, lengths, 0.0, 0, rng)
        budget.charge(1)
    start_heat = HEAT * lengths[1] / n
    while not budget.exhausted():
        heat = start_heat * cooling(budget.remaining())
        chain(tour, pos, dist, near, best, lengths, heat, KICKS_PER_CHUNK, rng)
        budget.charge(KICKS_PER_CHUNK)
    state.sequence = best
    return state
