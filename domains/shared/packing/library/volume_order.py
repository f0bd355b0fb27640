"""Construction: large items first.

Method: the items are sorted by falling volume; equal volumes keep the order of their numbers. First fit with
decreasing sizes is the standard construction of packing: what is hard to place comes while there is room.

Source: T. G. Crainic, G. Perboli, R. Tadei, Extreme point-based heuristics for three-dimensional bin packing,
2008 (extreme-point first fit decreasing by volume).

Complexity: O(n log n) for n items.
"""

import numpy as np
from parts.packing.priority_order import order_by_priority

NOISE = 0.0  # tunable: float 0.0..0.5


# exchangeable: priority-rule
def priorities(sizes, bin_size):
    """Sorting keys of the items, float (n,): the largest comes first."""
    return sizes.astype(np.float64).prod(axis=1)


def run(env_data, state, calc_makespan_fn):
    """Order all items by priority, each blurred by up to NOISE of its value."""
    return order_by_priority(env_data, state, NOISE)
