"""Sequences of items by layers of like heights."""

import numpy as np


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


def order_by_layers(env_data, state, density, tolerance):
    """Order all items layer by layer."""
    sizes, bin_size = np.asarray(env_data["item_sizes"]), np.asarray(env_data["bin_size"])
    layer = layers(sizes, bin_size, density, tolerance)
    volumes = sizes.astype(np.float64).prod(axis=1)
    total = np.bincount(layer, weights=volumes)
    env_data["budget"].charge(1)
    state.sequence = np.lexsort((-sizes[:, 0] * sizes[:, 1], layer, -total[layer])).astype(np.int32)
    return state
