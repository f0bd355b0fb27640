"""Random segment insertion: lift short segments out and put each back, perhaps reversed, somewhere near.

The new place is next to one of the NEAREST cities of the segment's head.
Source: the perturbation form of I. Or's segment move (1976), as in H. R. Lourenco, O. C. Martin, T. Stutzle,
"Iterated local search" (2003). Complexity: O(MOVES n). Work units: one per segment.
"""

import numpy as np

MOVES = 3  # tunable: int 1..20
SEGMENT = 10  # tunable: int 1..50
NEAREST = 8  # tunable: int 2..30


def moved(tour, dist, rng):
    n = len(tour)
    size = int(rng.integers(1, min(SEGMENT, n - 3) + 1))
    tour = np.roll(tour, -int(rng.integers(n)))
    segment, rest = tour[:size], tour[size:]
    if rng.random() < 0.5:
        segment = segment[::-1]
    nearest = np.argsort(dist[segment[0], rest], kind="stable")[:NEAREST]
    place = int(rng.choice(nearest)) + 1
    return np.concatenate([rest[:place], segment, rest[place:]])


def run(env_data, state, calc_makespan_fn):
    if env_data["num_nodes"] < 8:
        return state
    tour = state.sequence
    for _ in range(MOVES):
        tour = moved(tour, env_data["distance_matrix"], env_data["rng"])
        env_data["budget"].charge(1)
    state.sequence = np.ascontiguousarray(tour, dtype=np.int32)
    return state
