"""Compiled first-fit decoder of topological permutations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.core.encoding import int32_array
from dga2d.domains.salbp1.card import INVALID_SCORE


@njit(cache=True)
def count_stations(sequence, capacity, times, first_before, before, least, station, room):  # type: ignore[no-untyped-def]
    """Return the number of stations of the line an int32 `sequence` of the right length describes, or
    INVALID_SCORE.

    The direct predecessors of a task i are ``before[first_before[i] : first_before[i + 1]]``; `least` is the
    shortest task time. `station` (int32) and `room` (int64, the free time of each station), both of length n,
    are work arrays.
    """
    n = sequence.size
    station[:] = -1
    used = 0
    open_from = 0  # stations before this one cannot take even the shortest task
    for i in range(n):
        task = np.uint32(sequence[i])  # unsigned: negative ids become huge, indexing needs no sign check
        if task >= n or station[task] >= 0:
            return INVALID_SCORE
        place = open_from
        for k in range(first_before[task], first_before[task + 1]):
            earliest = station[before[k]]
            if earliest < 0:
                return INVALID_SCORE
            place = max(place, earliest)
        time = times[task]
        while place < used and room[place] < time:
            place += 1
        if place == used:
            room[place] = capacity
            used += 1
        room[place] -= time
        station[task] = place
        while open_from < used and room[open_from] < least:
            open_from += 1
    return used


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of one environment.

    It keeps copies of the data, so that code which scribbles on `environment` cannot change a score; a call
    with a contiguous int32 array allocates nothing. Other integer arrays are converted; anything that is not
    a one-dimensional integer array of length ``num_tasks`` scores INVALID_SCORE.
    """
    times = np.array(environment["times"], dtype=np.int64)
    edges = np.array(environment["edges"], dtype=np.int64).reshape(-1, 2)
    n = times.size
    before = edges[np.argsort(edges[:, 1], kind="stable"), 0].astype(np.int32)
    first_before = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(edges[:, 1], minlength=n), out=first_before[1:])
    capacity, least = int(environment["cycle_time"]), int(times.min())
    station, room = np.empty(n, np.int32), np.empty(n, np.int64)
    shape = (n,)

    def decode(state: State) -> float:
        sequence = int32_array(state.sequence, shape, n)
        if sequence is None:
            return float(INVALID_SCORE)
        return float(count_stations(sequence, capacity, times, first_before, before, least, station, room))

    decode(State(np.arange(n, dtype=np.int32)))  # compiled, or loaded from numba's cache, before it is used
    return decode
