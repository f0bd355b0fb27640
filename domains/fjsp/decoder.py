"""Compiled semi-active decoder of operation sequence and machine allocation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.core.encoding import int32_array
from dga2d.domains.fjsp.card import INVALID_SCORE, MACHINE_ALLOCATION


@njit(cache=True)
def makespan(sequence, allocation, times, op_counts, next_op, job_free, machine_free):  # type: ignore[no-untyped-def]
    """Return the makespan of an int32 `sequence` and an int32 `allocation` of the right shapes, or
    INVALID_SCORE.

    `times` is int32 `(jobs, max_ops, machines)`, −1 where a machine is not eligible. `next_op`, `job_free`
    (length n) and `machine_free` (length m) are int64 work arrays.
    """
    n_jobs, n_machines = op_counts.size, machine_free.size
    next_op[:] = 0
    job_free[:] = 0
    machine_free[:] = 0
    for i in range(sequence.size):
        job = np.uint32(sequence[i])  # unsigned: negative ids become huge, and indexing needs no sign check
        if job >= n_jobs:
            return INVALID_SCORE
        k = np.uint32(next_op[job])
        if k >= op_counts[job]:
            return INVALID_SCORE
        machine = np.uint32(allocation[job, k])
        if machine >= n_machines:
            return INVALID_SCORE
        time = times[job, k, machine]
        if time < 0:
            return INVALID_SCORE
        ready, free = job_free[job], machine_free[machine]
        end = (ready if ready > free else free) + time  # a select: which is later is a coin toss
        job_free[job] = end
        machine_free[machine] = end
        next_op[job] = k + 1
    return machine_free.max()


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of one environment.

    It keeps copies of the data, so that code which scribbles on `environment` cannot change a score; a call
    with contiguous int32 arrays allocates nothing. Other integer arrays are converted; anything that is not
    an integer array of the card's shape scores INVALID_SCORE.
    """
    op_counts = np.array(environment["op_counts"], dtype=np.int32)
    processing = np.array(environment["processing_matrix"], dtype=np.float64)
    times = np.where(np.isfinite(processing), processing, -1.0).astype(np.int32)
    n_jobs, max_ops, n_machines = times.shape
    shape, table = (int(op_counts.sum()),), (n_jobs, max_ops)
    next_op, job_free = np.empty(n_jobs, np.int64), np.empty(n_jobs, np.int64)
    machine_free = np.empty(n_machines, np.int64)
    int32 = np.dtype(np.int32)

    def decode(state: State) -> float:
        metadata = state.metadata
        sequence = int32_array(state.sequence, shape, n_jobs)
        if sequence is None or type(metadata) is not dict:
            return float(INVALID_SCORE)
        allocation = metadata.get(MACHINE_ALLOCATION)
        if type(allocation) is not np.ndarray or allocation.shape != table:
            return float(INVALID_SCORE)
        if allocation.dtype != int32 or not (allocation.flags.c_contiguous and allocation.flags.writeable):
            if allocation.dtype.kind not in "iu":
                return float(INVALID_SCORE)
            allocation = _machine_ids(allocation, n_machines)
        return float(makespan(sequence, allocation, times, op_counts, next_op, job_free, machine_free))

    # compiled, or loaded from numba's cache, before it is used
    decode(State(np.zeros(shape, np.int32), {MACHINE_ALLOCATION: np.zeros(table, np.int32)}))
    return decode


def _machine_ids(allocation: NDArray[Any], n_machines: int) -> NDArray[np.int32]:
    """Return a contiguous int32 copy in which everything that is no machine has become −1."""
    is_machine = (allocation >= 0) & (allocation < n_machines)
    return np.ascontiguousarray(np.where(is_machine, allocation, 0).astype(np.int32) - ~is_machine)
