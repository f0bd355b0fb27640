"""One-flip tabu search with buckets of equal gain.

Method: every step flips the best vertex that is not tabu, good or bad; a flipped vertex is tabu for
BASE_TENURE n to (BASE_TENURE + TENURE_SPREAD) n steps. The vertices lie in buckets by gain, so that a step
costs O(degree). After STALL n steps without a heavier cut the search starts again from the best one with KICK
of its vertices flipped.
Source: G. Kochenberger, J. Hao, Z. Lu, H. Wang, F. Glover, "Solving large scale Max Cut problems via tabu
search" (2013); G. Palubeckis, "Application of multistart tabu search to the Max-Cut problem" (2004).
Complexity: O(degree) per step. Work units: one per n arcs looked at.
"""

import numpy as np
from parts.gains import gains_of, kick, largest_gain, open_cut
from parts.pool import CHUNK_ARCS
from parts.tabu import tabu_walk

BASE_TENURE = 0.01  # tunable: float 0.001..0.1
TENURE_SPREAD = 0.02  # tunable: float 0.0..0.2
STALL = 50  # tunable: int 5..500
KICK = 0.1  # tunable: float 0.01..0.5


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    graph, x, gains, cut = open_cut(env_data, state)
    offsets, neighbors, weights = graph
    best, best_cut = x.copy(), cut
    span = largest_gain(offsets, weights)
    base, spread = max(2, int(BASE_TENURE * n)), max(1, int(TENURE_SPREAD * n))
    arcs = 8 + neighbors.size // n
    steps = max(20, min(CHUNK_ARCS // arcs, 2 * STALL * n))
    cuts, free_at = np.array([cut, best_cut, 0]), np.zeros(n, dtype=np.int64)
    heaviest, found_at = best_cut, 0
    while not budget.exhausted():
        tabu_walk(x, gains, best, cuts, free_at, offsets, neighbors, weights, span, base, spread, steps, rng)
        budget.charge(steps * arcs // n + 1)
        if cuts[1] > heaviest:
            heaviest, found_at = cuts[1], cuts[2]
        elif cuts[2] - found_at > STALL * n:
            x[:] = best
            cuts[0] = gains_of(x, offsets, neighbors, weights, gains)
            cuts[0] += kick(x, gains, offsets, neighbors, weights, max(2, int(KICK * n)), rng)
            found_at = cuts[2]
    state.sequence = ((best + 1) // 2).astype(np.int32)
    return state
