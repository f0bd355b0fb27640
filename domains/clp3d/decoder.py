"""Compiled Extreme-Point First-Fit in one container."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from dga2d.domains.clp3d.card import INVALID_SCORE
from dga2d.domains.clp3d.library.parts.box_types import box_types
from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.core.encoding import int32_array
from dga2d.domains.shared.packing.decoding import is_permutation
from dga2d.domains.shared.packing.library.parts.placement import bin_arrays, load


@njit(cache=True)
def load_all(sequence, kind, turned, first, volumes, size, least, box, keys, room, counts, age, upto, seen):  # type: ignore[no-untyped-def]
    """Return the packed volume of an int32 `sequence` of the right length, or -1 if it is no permutation.

    `kind`, `turned` and `first` are those of :func:`box_types`. Arrays for work: those of :func:`bin_arrays`;
    `age` and `upto`, int64 per type; `seen`, bool per item.
    """
    if not is_permutation(sequence, seen):
        return np.int64(-1)
    boxes, arrays = (kind, turned, first, volumes, size, least), (box, keys, room, counts, age, upto, seen)
    return load(sequence, np.int64(0), boxes, arrays)


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of one environment.

    It keeps copies of the data, so that code which scribbles on `environment` cannot change a score; a call
    with a contiguous int32 array allocates nothing. Other integer arrays are converted; anything that is no
    permutation of the items scores INVALID_SCORE.
    """
    sizes = np.array(environment["item_sizes"], dtype=np.int32, order="C")
    allowed = np.array(environment["orientation_allowed"], dtype=np.int32, order="C")
    size = np.array(environment["bin_size"], dtype=np.int32)
    n = len(sizes)
    kind, turned, first = box_types(sizes, allowed)
    volumes = sizes.prod(axis=1, dtype=np.int64)
    capacity = int(size.prod(dtype=np.int64))
    problem = (kind, turned, first, volumes, size, turned.min(axis=0))
    refused = np.empty(first.size - 1, np.int64), np.empty(first.size - 1, np.int64)
    work = (*bin_arrays(1, n), *refused, np.empty(n, np.bool_))

    def decode(state: State) -> float:
        sequence = int32_array(state.sequence, (n,), n)
        if sequence is None:
            return INVALID_SCORE
        packed = load_all(sequence, *problem, *work)
        return INVALID_SCORE if packed < 0 else float(100.0 - 100.0 * (packed / capacity))

    decode(State(np.arange(n, dtype=np.int32)))  # compiled, or loaded from numba's cache, before it is used
    return decode
