"""Double bridge: cut the tour at four places and let the two middle segments change places.

The segments are at most SEGMENT cities long, so most of the tour stays as it is.
Source: O. Martin, S. W. Otto, E. W. Felten, "Large-step Markov chains for the traveling salesman problem"
(1991). Complexity: O(n). Work units: one per bridge.
"""

import numpy as np

BRIDGES = 1  # tunable: int 1..10
SEGMENT = 50  # tunable: int 2..200


def bridged(tour, rng):
    n = len(tour)
    longest = min(SEGMENT, (n - 2) // 2)
    a, b = (int(size) for size in rng.integers(1, longest + 1, size=2))
    tour = np.roll(tour, -int(rng.integers(n)))
    return np.concatenate([tour[a : a + b], tour[:a], tour[a + b :]])


def run(env_data, state, calc_makespan_fn):
    if env_data["num_nodes"] < 8:
        return state
    tour = state.sequence
    for _ in range(BRIDGES):
        tour = bridged(tour, env_data["rng"])
        env_data["budget"].charge(1)
    state.sequence = np.ascontiguousarray(tour, dtype=np.int32)
    return state
