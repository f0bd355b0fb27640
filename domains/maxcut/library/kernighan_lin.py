"""Kernighan-Lin passes of variable depth.

Method: in a pass vertices are flipped one after the other, always the best of those not yet flipped, good or
bad, up to DEPTH of them; the pass ends at its heaviest cut. Passes go on until PATIENCE in a row gain
nothing, each from another order of equal gains.
Source: B. Kernighan, S. Lin, "An efficient heuristic procedure for partitioning graphs" (1970); C. Fiduccia,
R. Mattheyses, "A linear-time heuristic for improving network partitions" (1982), for the buckets.
Complexity: O(n + m) per pass. Work units: one per pass.
"""

import numpy as np
from numba import njit
from parts.gains import flip, largest_gain, open_cut, sides_of
from parts.tabu import enter, leave

DEPTH = 0.5  # tunable: float 0.05..1.0
PATIENCE = 3  # tunable: int 1..20


@njit(cache=True)
def deep_pass(x, gains, offsets, neighbors, weights, span, depth, order):
    """One pass of at most `depth` flips; vertices enter the buckets in `order`. Returns the gain."""
    n = x.size
    width = 2 * span // 8192 + 1
    head = np.full(2 * span // width + 1, -1, np.int32)
    after, before = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    bucket, flipped = np.full(n, -1, np.int32), np.empty(depth, np.int32)
    top = -1
    for v in order:
        place = (gains[v] + span) // width
        enter(v, place, head, after, before, bucket)
        top = max(top, place)
    total, most, length = 0, 0, 0
    for count in range(depth):
        while head[top] < 0:
            top -= 1
        v = head[top]
        leave(v, head, after, before, bucket)
        total += gains[v]
        flip(v, x, gains, offsets, neighbors, weights)
        flipped[count] = v
        if total > most:
            most, length = total, count + 1
        for p in range(offsets[v], offsets[v + 1]):
            u = neighbors[p]
            if bucket[u] >= 0:
                place = (gains[u] + span) // width
                leave(u, head, after, before, bucket)
                enter(u, place, head, after, before, bucket)
                top = max(top, place)
    for count in range(depth - 1, length - 1, -1):
        flip(flipped[count], x, gains, offsets, neighbors, weights)
    return most


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    graph, x, gains, _cut = open_cut(env_data, state)
    span = largest_gain(graph[0], graph[2])
    depth = max(1, int(DEPTH * n))
    idle = 0
    while idle < PATIENCE and not budget.exhausted():
        order = rng.permutation(n).astype(np.int32)
        gained = deep_pass(x, gains, *graph, span, depth, order)
        budget.charge(1)
        idle = 0 if gained > 0 else idle + 1
    state.sequence = sides_of(x)
    return state
