"""Compiled Extreme-Point First-Fit over as many bins as it takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from dga2d.domains.binpack3d.card import INVALID_SCORE, LAST_BIN_WEIGHT
from dga2d.domains.contract import Decoder, State
from dga2d.domains.encoding import as_int32
from dga2d.domains.packing.extreme_points import bin_arrays, find_point, least_sides, open_bin, place


@njit(cache=True)
def first_fit(sequence, sizes, volumes, size, least, box, keys, room, counts, free, seen):  # type: ignore[no-untyped-def]
    """Number of bins for an int32 `sequence` of the right length, or -1 if it is no permutation.

    `free` (int64 per bin) holds the empty volume of each bin afterwards; `seen` (bool per item) is for work.
    """
    n_bins = 0
    capacity = np.int64(size[0]) * size[1] * size[2]
    seen[:] = False
    for item in sequence:
        if item < 0 or item >= seen.size or seen[item]:
            return -1
        seen[item] = True
        dx, dy, dz = sizes[item, 0], sizes[item, 1], sizes[item, 2]
        b, found = 0, -1
        while b < n_bins:
            reach = (dx <= counts[b, 2]) & (dy <= counts[b, 3]) & (dz <= counts[b, 4])
            if reach & (free[b] >= volumes[item]):
                found = find_point(box, keys, room, counts, b, dx, dy, dz)
                if found >= 0:
                    break
            b += 1
        if found < 0:
            open_bin(keys, room, counts, b, size)
            free[b] = capacity
            n_bins += 1
            found = 0
        place(box, keys, room, counts, b, found, dx, dy, dz, size, least)
        free[b] -= volumes[item]
    return n_bins


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """The decoder of one environment.

    It keeps copies of the data, so that code which scribbles on `environment` cannot change a score; a call
    with a contiguous int32 array allocates nothing. Other integer arrays are converted; anything that is no
    permutation of the items scores INVALID_SCORE.
    """
    sizes = np.array(environment["item_sizes"], dtype=np.int32, order="C")
    size = np.array(environment["bin_size"], dtype=np.int32)
    n = len(sizes)
    volumes = sizes.prod(axis=1, dtype=np.int64)
    capacity = int(size.prod(dtype=np.int64))
    least = least_sides(sizes)
    arrays = bin_arrays(n, _most_boxes(volumes, capacity))
    free, seen = np.empty(n, np.int64), np.empty(n, np.bool_)
    int32 = np.dtype(np.int32)

    def decode(state: State) -> float:
        sequence = state.sequence
        if type(sequence) is not np.ndarray or sequence.shape != (n,):
            return INVALID_SCORE
        if sequence.dtype != int32 or not (sequence.flags.c_contiguous and sequence.flags.writeable):
            converted = as_int32(sequence, n)
            if converted is None:
                return INVALID_SCORE
            sequence = converted
        n_bins = first_fit(sequence, sizes, volumes, size, least, *arrays, free, seen)
        if n_bins < 0:
            return INVALID_SCORE
        return float(n_bins + LAST_BIN_WEIGHT * (free[n_bins - 1] / capacity))

    decode(State(np.arange(n, dtype=np.int32)))  # compiled, or loaded from numba's cache, before it is used
    return decode


def _most_boxes(volumes: Any, capacity: int) -> int:
    """How many of the items fit into one bin at most, by volume."""
    return int(np.searchsorted(np.cumsum(np.sort(volumes)), capacity, side="right"))
