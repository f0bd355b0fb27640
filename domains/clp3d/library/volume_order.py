"""Construction: large items first.

Method: the items are sorted by falling volume; equal volumes keep the order of their numbers. First fit with
decreasing sizes is the standard construction of packing: what is hard to place comes while there is room.

Source: T. G. Crainic, G. Perboli, R. Tadei, Extreme point-based heuristics for three-dimensional bin packing,
2008 (extreme-point first fit decreasing by volume).

Complexity: O(n log n) for n items.
"""

import numpy as np

NOISE = 0.0  # tunable: float 0.0..0.5


# exchangeable: priority-rule
def priorities(sizes, bin_size):
    """Sorting keys of the items, float (n,): the largest comes first."""
    return sizes.astype(np.float64).prod(axis=1)


def run(env_data, state, calc_makespan_fn):
    """Order all items by priority, each blurred by up to NOISE of its value."""
    rng = env_data["rng"]
    keys = priorities(np.asarray(env_data["item_sizes"]), np.asarray(env_data["bin_size"]))
    keys = keys * (1.0 + NOISE * rng.random(keys.size))
    env_data["budget"].charge(1)
    state.sequence = np.argsort(-keys, kind="stable").astype(np.int32)
    return state
