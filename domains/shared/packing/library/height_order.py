"""Construction: tall items first, wide ones among equals.

Method: the items are sorted by falling third side, which is the height or, where boxes may be turned, the
shortest side; equal ones by falling base area.
Neighbours in the order have similar heights, so that what stands side by side ends at nearly the same
level and the next layer lies flat.

Source: T. G. Crainic, G. Perboli, R. Tadei, Extreme point-based heuristics for three-dimensional bin
packing, 2008 (height-area ordering).

Complexity: O(n log n) for n items.
"""

import numpy as np
from parts.packing.priority_order import order_by_priority

NOISE = 0.0  # tunable: float 0.0..0.5


# exchangeable: priority-rule
def priorities(sizes, bin_size):
    """Sorting keys of the items, float (n,): the largest comes first."""
    sides = sizes.astype(np.float64)
    base = sides[:, 0] * sides[:, 1]
    return sides[:, 2] + base / (2.0 * base.max())


def run(env_data, state, calc_makespan_fn):
    """Order all items by priority, each blurred by up to NOISE of its value."""
    return order_by_priority(env_data, state, NOISE)
