"""Descent by single flips, steepest first.

Method: moves the vertex whose flip gains most until none gains; ties go to a random one.
Source: P. Festa, P. Pardalos, M. Resende, C. Ribeiro, "Randomized heuristics for the MAX-CUT problem" (2002).
Complexity: O(n) per flip. Work units: one per FLIPS_PER_UNIT flips.
"""

from numba import njit
from parts.gains import flip, open_cut, sides_of

FLIPS_PER_UNIT = 50  # tunable: int 10..500


@njit(cache=True)
def steepest_flips(x, gains, offsets, neighbors, weights, count, rng):
    """Up to `count` flips of the vertex that gains most; whether all were made."""
    for _ in range(count):
        chosen, most, ties = -1, 0, 0
        for v in range(x.size):
            if gains[v] > most:
                chosen, most, ties = v, gains[v], 1
            elif gains[v] == most and most > 0:
                ties += 1
                if rng.random() * ties < 1.0:
                    chosen = v
        if chosen < 0:
            return False
        flip(chosen, x, gains, offsets, neighbors, weights)
    return True


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    graph, x, gains, _cut = open_cut(env_data, state)
    part = max(1, min(FLIPS_PER_UNIT, 2_000_000 // n))
    moved = True
    while moved and not budget.exhausted():
        moved = steepest_flips(x, gains, *graph, part, rng)
        budget.charge(1)
    state.sequence = sides_of(x)
    return state
