"""Compiled list-scheduling decoder of permutations of operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from dga2d.domains.contract import Decoder, State
from dga2d.domains.ossp.card import INVALID_SCORE


@njit(cache=True)
def makespan(sequence, places, times, seen, call, job_free, machine_free):  # type: ignore[no-untyped-def]
    """Makespan of an int32 `sequence` of the right length, or INVALID_SCORE.

    `places` holds job and machine, `times` the time of every operation. `seen` is an int64 work array, one
    entry per operation and never above `call`, a number that grows from call to call; `job_free` (length n)
    and `machine_free` (length m) are int64 work arrays.
    """
    job_free[:] = 0
    machine_free[:] = 0
    for i in range(sequence.size):
        x = np.uint32(sequence[i])  # unsigned: negative ids become huge, and indexing needs no sign check
        if x >= seen.size or seen[x] == call:
            return INVALID_SCORE
        seen[x] = call
        job, machine = np.uint32(places[x, 0]), np.uint32(places[x, 1])
        ready, free = job_free[job], machine_free[machine]
        end = (ready if ready > free else free) + times[x]  # a select: which is later is a coin toss
        job_free[job] = end
        machine_free[machine] = end
    return machine_free.max()


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """The decoder of one environment.

    It keeps copies of the data, so that code which scribbles on `environment` cannot change a score; a call
    with a contiguous int32 array allocates nothing. Other integer arrays are converted; anything that is
    not a one-dimensional integer array of length ``total_ops`` scores INVALID_SCORE.
    """
    matrix = np.array(environment["ossp_times"], dtype=np.int32, order="C")
    n_jobs, n_machines = matrix.shape
    size = n_jobs * n_machines
    times = matrix.ravel()
    operations = np.arange(size, dtype=np.int32)
    places = np.stack((operations // n_machines, operations % n_machines), axis=1).astype(np.int32)
    seen = np.zeros(size, np.int64)
    job_free, machine_free = np.empty(n_jobs, np.int64), np.empty(n_machines, np.int64)
    int32 = np.dtype(np.int32)
    call = 0

    def decode(state: State) -> float:
        nonlocal call
        sequence = state.sequence
        if type(sequence) is not np.ndarray or sequence.shape != (size,):
            return float(INVALID_SCORE)
        if sequence.dtype != int32 or not (sequence.flags.c_contiguous and sequence.flags.writeable):
            if sequence.dtype.kind not in "iu" or sequence.min() < 0 or sequence.max() >= size:
                return float(INVALID_SCORE)
            sequence = np.array(sequence, dtype=np.int32)  # one compiled signature serves all
        call += 1
        return float(makespan(sequence, places, times, seen, call, job_free, machine_free))

    decode(State(operations))  # compiled, or loaded from numba's cache, before it is used
    return decode
