"""Compiled decoder: minus the value that is packed when items are taken in the order of a permutation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.core.encoding import int32_array
from dga2d.domains.skeleton.card import INVALID_SCORE


@njit(cache=True)
def negative_value(order, values, weights, capacity, seen):  # type: ignore[no-untyped-def]
    """Return minus the value packed, or INVALID_SCORE unless `order` is a permutation; `seen` is scratch,
    `(n,)`.
    """
    seen[:] = 0
    left = capacity
    packed = 0
    for k in range(order.size):
        item = order[k]
        if item < 0 or item >= order.size or seen[item]:
            return INVALID_SCORE
        seen[item] = 1
        if weights[item] <= left:
            left -= weights[item]
            packed += values[item]
    return -packed


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of one environment.

    It keeps copies, so that code which scribbles on `environment` cannot change a score. Anything that is not
    a one-dimensional integer array of length ``num_items`` scores INVALID_SCORE.
    """
    size, capacity = int(environment["num_items"]), int(environment["capacity"])
    values, weights = (np.array(environment[key], dtype=np.int64) for key in ("values", "weights"))
    seen = np.empty(size, np.uint8)

    def decode(state: State) -> float:
        sequence = int32_array(state.sequence, (size,), size)
        if sequence is None:
            return float(INVALID_SCORE)
        return float(negative_value(sequence, values, weights, capacity, seen))

    decode(State(np.arange(size, dtype=np.int32)))  # compiled before it is used
    return decode
