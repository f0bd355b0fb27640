"""Double bridge with cuts anywhere on the tour: a far jump for searches that are stuck.

Source: O. Martin, S. W. Otto, E. W. Felten, "Large-step Markov chains for the traveling salesman problem"
(1991). Complexity: O(n). Work units: one per bridge.
"""

import numpy as np

BRIDGES = 1  # tunable: int 1..10


def bridged(tour, rng):
    n = len(tour)
    first, middle, last = (int(cut) for cut in np.sort(rng.choice(n - 1, size=3, replace=False)) + 1)
    return np.concatenate([tour[:first], tour[middle:last], tour[first:middle], tour[last:]])


def run(env_data, state, calc_makespan_fn):
    if env_data["num_nodes"] < 8:
        return state
    tour = state.sequence
    for _ in range(BRIDGES):
        tour = bridged(tour, env_data["rng"])
        env_data["budget"].charge(1)
    state.sequence = np.ascontiguousarray(tour, dtype=np.int32)
    return state
