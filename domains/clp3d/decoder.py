"""Compiled Extreme-Point First-Fit in one container."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from dga2d.domains.clp3d.card import INVALID_SCORE
from dga2d.domains.contract import Decoder, State
from dga2d.domains.encoding import as_int32
from dga2d.domains.packing.extreme_points import bin_arrays, find_turned, least_sides, open_bin, place


@njit(cache=True)
def load(sequence, kind, turned, first, volumes, size, least, box, keys, room, counts, age, upto, seen):  # type: ignore[no-untyped-def]
    """Packed volume of an int32 `sequence` of the right length, or -1 if it is no permutation.

    `kind` is the type of each item; rows first[t] to first[t + 1] - 1 of `turned` are the sides of type t in
    its permitted orientations. A type remembers which points have refused it: `age` and `upto` (int64 per
    type).
    """
    open_bin(keys, room, counts, 0, size)
    age[:] = -1
    upto[:] = -1
    seen[:] = False
    packed = np.int64(0)
    for item in sequence:
        if item < 0 or item >= seen.size or seen[item]:
            return np.int64(-1)
        seen[item] = True
        t = kind[item]
        low, high = first[t], first[t + 1]
        found = find_turned(box, keys, room, counts, 0, turned, low, high, age[t], upto[t])
        age[t] = counts[0, 0]
        if found < 0:
            upto[t] = np.int64(2**62)
            continue
        k, r = found // 8, low + found % 8
        upto[t] = keys[0, k]
        place(box, keys, room, counts, 0, k, turned[r, 0], turned[r, 1], turned[r, 2], size, least)
        packed += volumes[item]
    return packed


def box_types(
    sizes: NDArray[np.int32], allowed: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Type of each item, int32 `(n,)`; sides in all permitted orientations; first row of each type.

    Items with the same sides and orientations are of one type; an orientation that equals an earlier one
    because two sides are equal is left out.
    """
    columns = np.array([(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
    kinds: dict[tuple[int, ...], int] = {}
    rows: list[list[int]] = []
    first = [0]
    kind = np.empty(len(sizes), np.int32)
    for item, key in enumerate(zip(*sizes.T.tolist(), *allowed.T.tolist(), strict=True)):
        if key not in kinds:
            kinds[key] = len(kinds)
            sides = sizes[item][columns[allowed[item] != 0]].tolist()
            rows += [list(row) for row in dict.fromkeys(map(tuple, sides))]
            first.append(len(rows))
        kind[item] = kinds[key]
    return kind, np.array(rows, np.int32).reshape(len(rows), 3), np.array(first, np.int32)


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """The decoder of one environment.

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
    problem = (kind, turned, first, volumes, size, least_sides(turned))
    work = (*bin_arrays(1, n), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.bool_))
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
        packed = load(sequence, *problem, *work)
        return INVALID_SCORE if packed < 0 else float(100.0 - 100.0 * (packed / capacity))

    decode(State(np.arange(n, dtype=np.int32)))  # compiled, or loaded from numba's cache, before it is used
    return decode
