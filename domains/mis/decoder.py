"""Compiled decoder: minus the size of an independent set given as a 0/1 vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.core.encoding import int32_array
from dga2d.domains.mis.card import INVALID_SCORE


@njit(cache=True)
def negative_size(sequence, rows, work, chosen):  # type: ignore[no-untyped-def]
    """Return minus the number of ones in the int32 `sequence` of the right length, or INVALID_SCORE.

    `rows`, uint64 (n, words), holds the neighbours of each vertex as bits; `work`, uint64 (words,), and
    `chosen`, int32 (n + 1,), are scratch.
    """
    n, n_words = rows.shape
    size = np.int64(0)
    beyond = np.int64(0)
    for w in range(n_words):
        word = np.uint64(0)
        for i in range(64 * w, min(64 * w + 64, n)):
            value = np.int64(sequence[i])
            beyond |= value & ~1
            word |= np.uint64(value) << np.uint64(i & 63)
            chosen[size] = i  # overwritten by the next vertex unless this one is in the set
            size += value & 1
        work[w] = word
    if beyond:
        return INVALID_SCORE
    for k in range(size):
        v = chosen[k]
        clash = np.uint64(0)
        for w in range(n_words):
            clash |= rows[v, w] & work[w]
        if clash:
            return INVALID_SCORE
    return -size


def bit_rows(adjacency: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the rows of a 0/1 matrix as bits, uint64 `(n, ceil(n / 64))`; bit i of word w is column 64 w +
    i.
    """
    n = len(adjacency)
    padded = np.zeros((n, -(-n // 64) * 64), np.uint8)
    padded[:, :n] = adjacency
    packed = np.packbits(padded, axis=1, bitorder="little")
    return np.ascontiguousarray(packed).view("<u8").astype(np.uint64)


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of one environment.

    It keeps its own copy of the graph, so that code which scribbles on `environment` cannot change a score; a
    call with a contiguous int32 array allocates nothing. Other integer arrays are converted; anything that is
    not a one-dimensional integer array of length ``num_vertices`` scores INVALID_SCORE.
    """
    rows = bit_rows(environment["adj"])
    size = len(rows)
    work, chosen = np.zeros(rows.shape[1], np.uint64), np.zeros(size + 1, np.int32)

    def decode(state: State) -> float:
        sequence = int32_array(state.sequence, (size,), 2)
        if sequence is None:
            return float(INVALID_SCORE)
        return float(negative_size(sequence, rows, work, chosen))

    decode(State(np.zeros(size, np.int32)))  # compiled, or loaded from numba's cache, before it is used
    return decode
