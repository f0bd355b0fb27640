"""Construction: tall items first, wide ones among equals.

Method: the items are sorted by falling shortest side, equal heights by falling base area. Neighbours in
the order have similar heights, so that what stands side by side ends at nearly the same level and the
next layer lies flat.

Source: T. G. Crainic, G. Perboli, R. Tadei, Extreme point-based heuristics for three-dimensional bin
packing, 2008 (height-area ordering).

Complexity: O(n log n) for n items.
"""

import numpy as np

NOISE = 0.0  # tunable: float 0.0..0.5


# exchangeable: priority-rule
def priorities(sizes, bin_size):
    """Sorting keys of the items, float (n,): the largest comes first."""
    sides = sizes.astype(np.float64)
    base = sides[:, 0] * sides[:, 1]
    return sides[:, 2] + base / (2.0 * base.max())


def run(env_data, state, calc_makespan_fn):
    """Order all items by priority, each blurred by up to NOISE of its value."""
    rng = env_data["rng"]
    keys = priorities(np.asarray(env_data["item_sizes"]), np.asarray(env_data["bin_size"]))
    keys = keys * (1.0 + NOISE * rng.random(keys.size))
    env_data["budget"].charge(1)
    state.sequence = np.argsort(-keys, kind="stable").astype(np.int32)
    return state
