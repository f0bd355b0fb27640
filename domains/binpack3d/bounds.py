"""Lower bounds on the number of bins.

References
----------
S. Martello, D. Pisinger, D. Vigo, The three-dimensional bin packing problem, Operations Research 48(2), 2000:
L0 (continuous), L1 (Equation 6: items that can only stand one behind the other), L2 (Equation 10: the volume
that fits beside them).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def continuous_bound(bin_size: NDArray[np.int32], item_sizes: NDArray[np.int32]) -> int:
    """Return L0: the total volume over the bin's, rounded up."""
    return -(-int(item_sizes.prod(axis=1, dtype=np.int64).sum()) // int(bin_size.prod(dtype=np.int64)))


def l2_bound(bin_size: NDArray[np.int32], item_sizes: NDArray[np.int32]) -> int:
    """Return L2: the largest over the three axes along which large items can only be stacked; at least L0 and
    L1.
    """
    size, items = bin_size.astype(np.int64), item_sizes.astype(np.int64)
    return max(_axis_l2(size[list(axes)], items[:, list(axes)]) for axes in ((0, 1, 2), (0, 2, 1), (1, 2, 0)))


def _axis_l1(size: Ints, items: Ints) -> int:
    """Return the bound from items over half the bin along axes 0 and 1: one-dimensional packing along
    axis 2.
    """
    length = int(size[2])
    depths = items[(2 * items[:, 0] > size[0]) & (2 * items[:, 1] > size[1]), 2]
    long, best = depths[2 * depths > length], 0
    for p in np.unique(depths[2 * depths <= length]).tolist():
        beside = long[long <= length - p]
        short = depths[(2 * depths <= length) & (depths >= p)]
        gap = len(beside) * length - int(beside.sum())
        by_length = -(-(int(short.sum()) - gap) // length)
        by_count = -(-(len(short) - int(((length - beside) // p).sum())) // (length // p))
        best = max(best, by_length, by_count)
    return len(long) + best


def _axis_l2(size: Ints, items: Ints) -> int:
    l1 = _axis_l1(size, items)
    capacity = int(size.prod())
    volumes = items.prod(axis=1)
    is_large = (2 * items[:, 0] > size[0]) & (2 * items[:, 1] > size[1])
    best = l1
    for p in [1, *_small_sides(items[:, 0], int(size[0]))]:
        for q in [1, *_small_sides(items[:, 1], int(size[1]))]:
            whole = (items[:, 0] > size[0] - p) & (items[:, 1] > size[1] - q)
            counted = ~whole & (is_large | ((items[:, 0] >= p) & (items[:, 1] >= q)))
            beside = (int(size[2]) * l1 - int(items[whole, 2].sum())) * int(size[0] * size[1])
            best = max(best, l1 + -(-(int(volumes[counted].sum()) - beside) // capacity))
    return best


def _small_sides(sides: Ints, length: int) -> list[int]:
    """Return the sides up to half of `length`, and the first values at which a larger side counts as
    whole.
    """
    candidates = np.concatenate([sides, length - sides + 1])
    return [int(p) for p in np.unique(candidates) if 1 <= p <= length // 2]
