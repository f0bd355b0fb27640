"""Compiled Extreme-Point First-Fit over as many bins as it takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from dga2d.domains.binpack3d.card import INVALID_SCORE, LAST_BIN_WEIGHT
from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.core.encoding import int32_array
from dga2d.domains.shared.packing.decoding import is_permutation
from dga2d.domains.shared.packing.library.parts.placement import bin_arrays, fill_bins


@njit(cache=True)
def first_fit(sequence, sizes, volumes, size, least, box, keys, room, counts, free, bin_of, seen):  # type: ignore[no-untyped-def]
    """Return the number of bins for an int32 `sequence` of the right length, or -1 if it is no permutation.

    `free` (int64 per bin) holds the empty volume of each bin afterwards, `bin_of` (int32 per item) the bin of
    each item; `seen` (bool per item) is for work.
    """
    if not is_permutation(sequence, seen):
        return -1
    items, arrays = (sizes, volumes, size, least), (box, keys, room, counts)
    return fill_bins(sequence, items, arrays, free, bin_of)


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of one environment.

    It keeps copies of the data, so that code which scribbles on `environment` cannot change a score; a call
    with a contiguous int32 array allocates nothing. Other integer arrays are converted; anything that is no
    permutation of the items scores INVALID_SCORE.
    """
    sizes = np.array(environment["item_sizes"], dtype=np.int32, order="C")
    size = np.array(environment["bin_size"], dtype=np.int32)
    n = len(sizes)
    volumes = sizes.prod(axis=1, dtype=np.int64)
    capacity = int(size.prod(dtype=np.int64))
    least = sizes.min(axis=0)
    arrays = bin_arrays(n, _most_boxes(volumes, capacity))
    free = np.empty(n, np.int64)
    work = (*arrays, free, np.empty(n, np.int32), np.empty(n, np.bool_))

    def decode(state: State) -> float:
        sequence = int32_array(state.sequence, (n,), n)
        if sequence is None:
            return INVALID_SCORE
        n_bins = first_fit(sequence, sizes, volumes, size, least, *work)
        if n_bins < 0:
            return INVALID_SCORE
        return float(n_bins + LAST_BIN_WEIGHT * (free[n_bins - 1] / capacity))

    decode(State(np.arange(n, dtype=np.int32)))  # compiled, or loaded from numba's cache, before it is used
    return decode


def _most_boxes(volumes: Any, capacity: int) -> int:
    """Return how many of the items fit into one bin at most, by volume."""
    return int(np.searchsorted(np.cumsum(np.sort(volumes)), capacity, side="right"))
