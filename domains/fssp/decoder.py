"""Compiled semi-active decoder of operation-based flow-shop sequences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.core.encoding import int32_array
from dga2d.domains.fssp.card import INVALID_SCORE


@njit(cache=True)
def flow_shop_makespan(sequence, times, next_op, job_free, machine_free):  # type: ignore[no-untyped-def]
    """Return the makespan of an int32 `sequence` of the right length, or INVALID_SCORE.

    `times` is int32 `(jobs, machines)`; `next_op`, `job_free` (length n) and `machine_free` (length m) are
    int32 work arrays: readers refuse times that add up to INVALID_SCORE or more.
    """
    n_jobs, n_machines = times.shape
    next_op[:] = 0
    job_free[:] = 0
    machine_free[:] = 0
    for i in range(sequence.size):
        job = np.uint32(sequence[i])  # unsigned: negative ids become huge, and indexing needs no sign check
        if job >= n_jobs:
            return INVALID_SCORE
        machine = np.uint32(next_op[job])
        if machine >= n_machines:
            return INVALID_SCORE
        ready, free = job_free[job], machine_free[machine]
        end = (ready if ready > free else free) + times[job, machine]
        job_free[job] = end
        machine_free[machine] = end
        next_op[job] = machine + 1
    return machine_free[n_machines - 1]


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of one environment.

    It keeps copies of the data, so that code which scribbles on `environment` cannot change a score; a call
    with a contiguous int32 array allocates nothing. Other integer arrays are converted; anything that is
    not a one-dimensional integer array of length ``total_ops`` scores INVALID_SCORE.
    """
    times = np.array(np.asarray(environment["processing_times"]).T, dtype=np.int32, order="C")
    n_jobs, n_machines = times.shape
    shape = (n_jobs * n_machines,)
    next_op, job_free = np.empty(n_jobs, np.int32), np.empty(n_jobs, np.int32)
    machine_free = np.empty(n_machines, np.int32)

    def decode(state: State) -> float:
        sequence = int32_array(state.sequence, shape, n_jobs)
        if sequence is None:
            return float(INVALID_SCORE)
        return float(flow_shop_makespan(sequence, times, next_op, job_free, machine_free))

    decode(State(np.zeros(shape, np.int32)))  # compiled, or loaded from numba's cache, before it is used
    return decode
