"""Construction by layers: items of similar height lie side by side on one level.

Method: items are cut off the list of falling heights into layers: a layer takes items, starting with the
tallest left, until their bases add up to DENSITY of the container's base or the next one is lower than
TOLERANCE times the tallest. Layers follow one another by falling volume, items within a layer by falling
base area.

Source: D. Pisinger, Heuristics for the container loading problem, 2002 (layers); J. A. George, D. F.
Robinson, A heuristic for packing boxes into a container, 1980.

Complexity: O(n log n) for n items.
"""

import numpy as np

DENSITY = 0.9  # tunable: float 0.3..2.0
TOLERANCE = 0.8  # tunable: float 0.2..1.0


# exchangeable: layer-rule
def layers(sizes, bin_size, density, tolerance):
    """Layer of each item, int (n,)."""
    heights, base = sizes[:, 2], sizes[:, 0].astype(np.float64) * sizes[:, 1]
    layer, current, area, top = np.zeros(len(sizes), np.int64), 0, 0.0, 0
    for item in np.lexsort((-base, -heights)):
        if area and (
            area + base[item] > density * bin_size[0] * bin_size[1] or heights[item] < tolerance * top
        ):
            current, area = current + 1, 0.0
        if not area:
            top = heights[item]
        layer[item] = current
        area += base[item]
    return layer


def run(env_data, state, calc_makespan_fn):
    """Order all items layer by layer."""
    sizes, bin_size = np.asarray(env_data["item_sizes"]), np.asarray(env_data["bin_size"])
    layer = layers(sizes, bin_size, DENSITY, TOLERANCE)
    volumes = sizes.astype(np.float64).prod(axis=1)
    total = np.bincount(layer, weights=volumes)
    env_data["budget"].charge(1)
    state.sequence = np.lexsort((-sizes[:, 0] * sizes[:, 1], layer, -total[layer])).astype(np.int32)
    return state
