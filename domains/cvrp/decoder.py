"""Compiled decoder: total length of the routes a sequence describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.core.encoding import as_int32
from dga2d.domains.cvrp.card import INVALID_SCORE


@njit(cache=True)
def routes_length(sequence, distances, demands, capacity, seen):  # type: ignore[no-untyped-def]
    """Return the length of the routes of an int32 `sequence`, or INVALID_SCORE; `seen` is scratch, uint8
    `(n,)`.
    """
    n = distances.shape[0]
    seen[:] = 0
    total, free, left = np.int64(0), capacity, n - 1
    previous = np.uint32(0)
    for position in range(sequence.size):
        node = np.uint32(sequence[position])  # unsigned: negative ids become huge, no sign check in indexing
        if node >= n:
            return INVALID_SCORE
        if node == 0:
            if previous == 0:
                return INVALID_SCORE
            free = capacity
        else:
            free -= demands[node]
            if seen[node] or free < 0:
                return INVALID_SCORE
            seen[node] = 1
            left -= 1
        total += distances[previous, node]
        previous = node
    if previous == 0 or left:
        return INVALID_SCORE
    return total + distances[previous, 0]


@njit(cache=True)
def limited_length(sequence, distances, demands, capacity, seen, limit, service):  # type: ignore[no-untyped-def]
    """Return the same where a route's edges and `service` per customer may come to `limit` at most: where the
    next customer would exceed it the vehicle returns to the depot first, and sets out again.
    """
    n = distances.shape[0]
    seen[:] = 0
    total, free, left, length = np.int64(0), capacity, n - 1, np.int64(0)
    previous = np.uint32(0)
    for position in range(sequence.size):
        node = np.uint32(sequence[position])
        if node >= n or (node == 0 and previous == 0):
            return INVALID_SCORE
        if node == 0 or (
            previous and length + distances[previous, node] + service + distances[node, 0] > limit
        ):
            total += distances[previous, 0]
            previous, free, length = np.uint32(0), capacity, np.int64(0)
        if node == 0:
            continue
        length += distances[previous, node] + service
        free -= demands[node]
        if seen[node] or free < 0 or length + distances[node, 0] > limit:
            return INVALID_SCORE
        seen[node] = 1
        left -= 1
        total += distances[previous, node]
        previous = node
    if previous == 0 or left:
        return INVALID_SCORE
    return total + distances[previous, 0]


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of one environment; not for use by two threads at once (it owns scratch memory).

    It keeps copies of the data, so that code which scribbles on `environment` cannot change a score; a call
    with a contiguous int32 array allocates nothing. Other integer arrays are converted; anything that is not
    a one-dimensional array of integers scores INVALID_SCORE.
    """
    distances = np.array(environment["dist_matrix"], dtype=np.int32, order="C")
    demands = np.array(environment["demands"], dtype=np.int64)
    capacity = int(environment["capacity"])
    limit, service = int(environment.get("max_route_length", -1)), int(environment.get("service_time", 0))
    n = len(demands)
    seen = np.zeros(n, dtype=np.uint8)
    int32 = np.dtype(np.int32)
    invalid = float(INVALID_SCORE)

    def decode(state: State) -> float:
        sequence = getattr(state, "sequence", None)
        if type(sequence) is not np.ndarray or sequence.ndim != 1 or not n <= sequence.size + 1 < 2 * n - 1:
            return invalid
        if sequence.dtype != int32 or not (sequence.flags.c_contiguous and sequence.flags.writeable):
            converted = as_int32(sequence, n)
            if converted is None:
                return invalid
            sequence = converted
        if limit >= 0:
            return float(limited_length(sequence, distances, demands, capacity, seen, limit, service))
        return float(routes_length(sequence, distances, demands, capacity, seen))

    # Both are compiled, or loaded from the cache, now: a process that is sealed off later can do neither.
    first = np.arange(1, n, dtype=np.int32)
    routes_length(first, distances, demands, capacity, seen)
    limited_length(first, distances, demands, capacity, seen, limit, service)
    return decode
