"""Construction: large bases first, in clusters of similar size.

Method: base areas are counted in steps of a tenth of the bin's base; items are sorted by falling step, within
a step by falling height. Coarse steps let the height decide among bases that differ little.

Source: T. G. Crainic, G. Perboli, R. Tadei, Extreme point-based heuristics for three-dimensional bin packing,
2008 (clustered area-height ordering).

Complexity: O(n log n) for n items.
"""

import numpy as np
from parts.packing.priority_order import order_by_priority

NOISE = 0.0  # tunable: float 0.0..0.5


# exchangeable: priority-rule
def priorities(sizes, bin_size):
    """Sorting keys of the items, float (n,): the largest comes first."""
    sides = sizes.astype(np.float64)
    step = np.ceil(sides[:, 0] * sides[:, 1] / (0.1 * bin_size[0] * bin_size[1]))
    return step + sides[:, 2] / (2.0 * sides[:, 2].max())


def run(env_data, state, calc_makespan_fn):
    """Order all items by priority, each blurred by up to NOISE of its value."""
    return order_by_priority(env_data, state, NOISE)
