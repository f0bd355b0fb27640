"""Compiled serial schedule generation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.core.encoding import as_int32
from dga2d.domains.rcpsp.card import INVALID_SCORE


@njit(cache=True)
def makespan(sequence, activities, predecessors, work):  # type: ignore[no-untyped-def]
    """Return the makespan of an int32 `sequence` of the right length, or INVALID_SCORE.

    A row of `activities`, int64 (N + 2, 2 + words), holds where the predecessors of an activity begin in
    `predecessors`, its duration and its requests, packed as :func:`pack` does; row N ends the predecessors
    and holds the guard bits, row N + 1 the capacities. `work`, int64, begins with the latest finish of the
    call before and the finish times (-1: not yet scheduled); then follows what is left of the resources in
    each period, one profile after another, equal to the capacities behind that latest finish.
    """
    n = sequence.size
    words = activities.shape[1] - 2
    horizon = (work.size - 1 - n) // words
    for word in range(words):
        profile = work[1 + n + word * horizon : 1 + n + (word + 1) * horizon]
        profile[: work[0]] = activities[n + 1, 2 + word]
    finish = work[1 : 1 + n]
    finish[:] = -1
    work[0] = 0
    for i in range(n):
        x = np.uint32(sequence[i])  # unsigned: negative ids become huge, and indexing needs no sign check
        if x >= n or finish[x] >= 0:
            return INVALID_SCORE
        start = np.int64(0)
        for k in range(activities[x, 0], activities[x + np.uint32(1), 0]):
            before = finish[predecessors[k]]
            if before < 0:
                return INVALID_SCORE
            start = max(start, before)
        duration = activities[x, 1]
        word = settled = 0
        while settled < words:
            profile = work[1 + n + word * horizon : 1 + n + (word + 1) * horizon]
            need, guard = activities[x, 2 + word], activities[n, 2 + word]
            t, end = start, start + duration
            while t < end:
                if ((profile[t] | guard) - need) & guard != guard:  # some lane borrowed its guard bit
                    end = t + 1 + duration
                t += 1
            settled = settled + 1 if end - duration == start else 1
            start = end - duration
            word = word + 1 if word + 1 < words else 0
        for word in range(words):
            profile = work[1 + n + word * horizon : 1 + n + (word + 1) * horizon]
            need = activities[x, 2 + word]
            for period in range(start, start + duration):
                profile[period] -= need
        finish[x] = start + duration
        work[0] = max(work[0], start + duration)
    return work[0]


def pack(
    requests: NDArray[Any], capacities: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return requests, int64 `(N, words)`, capacities and guard bits int64 `(words,)` in lanes of machine
    words.

    A resource takes as many bits as its capacity needs and one guard bit above them, so that one
    subtraction compares all resources of a word: a lane whose request exceeds what is left borrows its
    guard bit.
    """
    widths = [int(capacity).bit_length() + 1 for capacity in capacities]
    words, used = 0, 63
    places = []
    for width in widths:
        if used + width > 63:
            words, used = words + 1, 0
        places.append((words - 1, used))
        used += width
    need = np.zeros((len(requests), words), np.int64)
    packed, guard = np.zeros(words, np.int64), np.zeros(words, np.int64)
    for resource, ((word, shift), width) in enumerate(zip(places, widths, strict=True)):
        need[:, word] |= requests[:, resource].astype(np.int64) << shift
        packed[word] |= int(capacities[resource]) << shift
        guard[word] |= 1 << (shift + width - 1)
    return need, packed, guard


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of one environment.

    It keeps copies of the data, so that code which scribbles on `environment` cannot change a score; a call
    with a contiguous int32 array allocates nothing. Other integer arrays are converted; anything that is
    not a one-dimensional integer array of length ``num_activities`` scores INVALID_SCORE.
    """
    durations = np.array(environment["durations"], dtype=np.int64)
    n = durations.size
    need, capacities, guard = pack(environment["requests"], environment["capacities"])
    edges = np.array(environment["edges"], dtype=np.int64)
    edges = edges[np.argsort(edges[:, 1], kind="stable")]
    activities = np.zeros((n + 2, 2 + need.shape[1]), np.int64)
    activities[: n + 1, 0] = np.searchsorted(edges[:, 1], np.arange(n + 1))
    activities[:n, 1], activities[:n, 2:] = durations, need
    activities[n, 2:], activities[n + 1, 2:] = guard, capacities
    predecessors = edges[:, 0].astype(np.int32)
    horizon = int(durations.sum() + durations.max() + 1)
    work = np.concatenate((np.zeros(1 + n, np.int64), np.repeat(capacities, horizon)))
    int32 = np.dtype(np.int32)

    def decode(state: State) -> float:
        sequence = state.sequence
        if type(sequence) is not np.ndarray or sequence.shape != (n,):
            return float(INVALID_SCORE)
        if sequence.dtype != int32 or not (sequence.flags.c_contiguous and sequence.flags.writeable):
            converted = as_int32(sequence, n)
            if converted is None:
                return float(INVALID_SCORE)
            sequence = converted
        return float(makespan(sequence, activities, predecessors, work))

    decode(State(np.arange(n, dtype=np.int32)))  # compiled, or loaded from numba's cache, before it is used
    return decode
