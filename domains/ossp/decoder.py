"""Compiled list-scheduling decoder of permutations of operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.core.encoding import int32_array
from dga2d.domains.ossp.card import INVALID_SCORE


@njit(cache=True)
def makespan(sequence, table, work):  # type: ignore[no-untyped-def]
    """Return the makespan of an int32 `sequence` of the right length, or INVALID_SCORE.

    Few arguments, because each costs as much as the decoding of fifty operations. `table`, int32
    (operations, 3), holds the place in `work` at which the job of an operation is free, the same for its
    machine, and its time. `work`, int64, begins with a number that grows from call to call and the number
    of the last call that met each operation; then come the times at which jobs and machines are free.
    """
    n_ops = sequence.size
    work[0] += 1
    call = work[0]
    work[n_ops + 1 :] = 0
    latest = np.int64(0)
    for i in range(n_ops):
        x = np.uint32(sequence[i])  # unsigned: negative ids become huge, and indexing needs no sign check
        if x >= n_ops or work[x + np.uint32(1)] == call:
            return INVALID_SCORE
        work[x + np.uint32(1)] = call
        job, machine = np.uint32(table[x, 0]), np.uint32(table[x, 1])
        ready, free = work[job], work[machine]
        end = (ready if ready > free else free) + table[x, 2]  # a select: which is later is a coin toss
        work[job] = end
        work[machine] = end
        latest = end if end > latest else latest
    return latest


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of one environment.

    It keeps copies of the data, so that code which scribbles on `environment` cannot change a score; a call
    with a contiguous int32 array allocates nothing. Other integer arrays are converted; anything that is
    not a one-dimensional integer array of length ``total_ops`` scores INVALID_SCORE.
    """
    matrix = np.array(environment["ossp_times"], dtype=np.int32, order="C")
    n_jobs, n_machines = matrix.shape
    size = n_jobs * n_machines
    operations = np.arange(size, dtype=np.int32)
    jobs, machines = 1 + size + operations // n_machines, 1 + size + n_jobs + operations % n_machines
    table = np.stack((jobs, machines, matrix.ravel()), axis=1).astype(np.int32)
    work = np.zeros(1 + size + n_jobs + n_machines, np.int64)

    def decode(state: State) -> float:
        sequence = int32_array(state.sequence, (size,), size)
        if sequence is None:
            return float(INVALID_SCORE)
        return float(makespan(sequence, table, work))

    decode(State(operations))  # compiled, or loaded from numba's cache, before it is used
    return decode
