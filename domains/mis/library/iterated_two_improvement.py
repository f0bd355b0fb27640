"""Iterated local search on (1,2)-swaps: force vertices in, descend around the change, accept or undo.

Method: usually one vertex is forced in (of PICKS random ones the one that has been outside longest), now and
then several. Vertices of the set near the change are tried for (1,2)-swaps. A smaller set is kept with a
probability that falls with its distance to the current and to the best size, otherwise the moves are undone.

Source: D. V. Andrade, M. G. C. Resende, R. F. Werneck, Fast local search for the maximum independent set
problem, 2012.

Complexity: O(degree^2) per iteration. Work units: one per vertex that joins or leaves.
"""

import numpy as np
from numba import njit
from parts.independent_set import copy_set, fill, force, open_set, two_improvement, undo
from parts.xorshift import draw

PICKS = 4  # tunable: int 1..50
MORE = 0.5  # tunable: float 0.0..1.0

CHUNK_WORK = 2_000_000
TRAIL = 100_000


# exchangeable: acceptance
@njit(cache=True)
def is_accepted(size, before, most, ties):
    """Whether a set of `size` replaces one of `before`; `most`: best so far; `ties`: random below 2^31."""
    if size >= before:
        return True
    return ties * (1 + (before - size) * (most - size)) < (1 << 31)


@njit(cache=True)
def enqueue(u, first, near, place, tight, counts, queue, is_queued, head, tail):
    """Queue the vertices of the set whose (1,2)-swaps may be new since u left or joined; returns the tail."""
    for i in range(first[u] - 1, first[u + 1]):
        w = u if i < first[u] else near[i]
        if place[w] < counts[0]:
            x = w
        elif tight[w] == 1:
            x = w
            for j in range(first[w], first[w + 1]):
                if place[near[j]] < counts[0]:
                    x = near[j]
                    break
        else:
            continue
        if not is_queued[x] and tail - head < queue.size:
            is_queued[x] = 1
            queue[tail % queue.size] = x
            tail += 1
    return tail


@njit(cache=True)
def iterations(
    adj, first, near, order, place, tight, counts, trail, stamp, best, single, queue, is_queued, n_iterations,
    stream,
):  # fmt: skip
    """Make `n_iterations`; counts[3]: clock, stamp[v]: when v last left or joined. Copies the best set."""
    n, most = order.size, best.sum()
    for _ in range(n_iterations):
        counts[2] = 0
        counts[3] += 1
        size = counts[0]
        if size >= n:
            return
        forced = 1
        if draw(stream, 2 * size + 1) == 0:
            while forced < size and draw(stream, 1 << 31) < MORE * (1 << 31):
                forced += 1
        for _ in range(forced):
            v = order[counts[0] + draw(stream, n - counts[0])]
            for _ in range(PICKS - 1):
                w = order[counts[0] + draw(stream, n - counts[0])]
                if stamp[w] < stamp[v]:
                    v = w
            force(v, first, near, order, place, tight, counts, trail)
        fill(first, near, order, place, tight, counts, trail, stream)
        head, tail, seen = 0, 0, 0
        while True:
            while seen < min(counts[2], trail.size):
                u = abs(trail[seen]) - 1
                stamp[u] = counts[3]
                tail = enqueue(u, first, near, place, tight, counts, queue, is_queued, head, tail)
                seen += 1
            if head == tail:
                break
            x = queue[head % queue.size]
            head += 1
            is_queued[x] = 0
            if place[x] < counts[0] and two_improvement(
                x, adj, first, near, order, place, tight, counts, trail, single, stream
            ):
                fill(first, near, order, place, tight, counts, trail, stream)
        if counts[0] > most:
            most = copy_set(order, counts[0], best)
        elif not is_accepted(counts[0], size, most, draw(stream, 1 << 31)):
            undo(first, near, order, place, tight, counts, trail)


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    budget, n = env_data["budget"], env_data["num_vertices"]
    adj, stream, best, lists = open_set(env_data, state, TRAIL)
    first, near, order, place, tight, counts, trail = lists
    fill(first, near, order, place, tight, counts, trail, stream)
    best[:] = 0
    best[order[: counts[0]]] = 1
    stamp, single = np.zeros(n, np.int64), np.zeros(n, np.int32)
    queue, is_queued = np.zeros(n, np.int32), np.zeros(n, np.uint8)
    n_iterations = max(20, CHUNK_WORK // (200 + 40 * (len(near) // n + 1)))
    while not budget.exhausted():
        before = int(counts[4])
        iterations(
            adj, first, near, order, place, tight, counts, trail, stamp, best, single, queue, is_queued,
            n_iterations, stream,
        )  # fmt: skip
        budget.charge(int(counts[4]) - before + 1)
    state.sequence = best
    return state
