"""Descent by (1,2)-swaps: one vertex leaves, two join.

Method: a vertex of the set is replaced by two non-adjacent vertices that have no other neighbour in the set;
free vertices join at once. The vertices of the set are tried in random order until none can be replaced.

Source: D. V. Andrade, M. G. C. Resende, R. F. Werneck, Fast local search for the maximum independent set
problem, 2012.

Complexity: O(m) for one look at every vertex of the set, plus the pairs compared. Work units: one per vertex
looked at.
"""

import numpy as np
from numba import njit
from parts.independent_set import fill, open_set, two_improvement

PASSES = 100  # tunable: int 1..1000

CHUNK_WORK = 2_000_000
TRAIL = 1


@njit(cache=True)
def attempts(queue, head, adj, first, near, order, place, tight, counts, trail, single, n_attempts, stream):
    """Look at the vertices queue[head:head + n_attempts] that are in the set; returns the number of gains."""
    gains = 0
    for i in range(head, min(head + n_attempts, queue.size)):
        x = queue[i]
        if place[x] < counts[0] and two_improvement(
            x, adj, first, near, order, place, tight, counts, trail, single, stream
        ):
            fill(first, near, order, place, tight, counts, trail, stream)
            gains += 1
    return gains


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` until no (1,2)-swap is left, PASSES looks at the set are done or time is up."""
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_vertices"]
    adj, stream, best, lists = open_set(env_data, state, TRAIL)
    first, near, order, place, tight, counts, trail = lists
    fill(first, near, order, place, tight, counts, trail, stream)
    single = np.zeros(n, np.int32)
    n_attempts = max(20, CHUNK_WORK // (20 + 4 * (len(near) // n + 1)))
    for _ in range(PASSES):
        queue, gains, head = rng.permutation(order[: counts[0]]), 0, 0
        while head < queue.size and not budget.exhausted():
            gains += attempts(
                queue, head, adj, first, near, order, place, tight, counts, trail, single, n_attempts, stream
            )
            budget.charge(min(n_attempts, queue.size - head))
            head += n_attempts
        if gains == 0 or head < queue.size:
            break
    best[:] = 0
    best[order[: counts[0]]] = 1
    state.sequence = best
    return state
