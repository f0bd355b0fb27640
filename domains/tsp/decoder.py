"""Compiled decoder: length of the closed tour a permutation describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numba import njit

from dga2d.domains.core.contract import Decoder, State

INVALID_SCORE: Final = 999_999_999.0


@njit(cache=True)
def _tour_length(sequence: Any, distances: Any, seen: Any) -> float:
    """Return the length, or `INVALID_SCORE` unless every city occurs once; `seen` is scratch, uint8
    `(n,)`.
    """
    n = distances.shape[0]
    seen[:] = 0
    total = np.int64(0)
    previous = np.uint32(sequence[n - 1])  # unsigned: negative ids become huge, indexing needs no sign check
    if previous >= n:
        return 999_999_999.0
    for position in range(n):
        city = np.uint32(sequence[position])
        if city >= n or seen[city]:
            return 999_999_999.0
        seen[city] = 1
        total += distances[previous, city]
        previous = city
    return float(total)


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of an environment; not for use by two threads at once (it owns scratch memory)."""
    distances = np.array(environment["distance_matrix"], dtype=np.int64, order="C")
    discounts = len(environment.get("fixed_edges", ())) * int(environment.get("fixed_discount", 0))
    n = len(distances)
    seen = np.zeros(n, dtype=np.uint8)

    def decode(state: State) -> float:
        sequence = getattr(state, "sequence", None)
        if type(sequence) is not np.ndarray or sequence.dtype != np.int32 or sequence.shape != (n,):
            return INVALID_SCORE
        if not (sequence.flags.c_contiguous and sequence.flags.writeable):
            sequence = sequence.copy()  # one compiled signature serves all
        length = float(_tour_length(sequence, distances, seen))
        return length if length == INVALID_SCORE else length + discounts

    decode(State(np.arange(n, dtype=np.int32)))  # compiled, or loaded from numba's cache, before it is used
    return decode
