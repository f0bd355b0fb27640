"""Compiled semi-active decoder of operation-based sequences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.core.encoding import int32_array
from dga2d.domains.jsp.card import INVALID_SCORE


@njit(cache=True)
def makespan(sequence, machines, times, next_op, job_free, machine_free):  # type: ignore[no-untyped-def]
    """Return the makespan of an int32 `sequence` of the right length, or INVALID_SCORE.

    `next_op`, `job_free` (length n) and `machine_free` (length m) are int64 work arrays.
    """
    n_jobs, n_machines = machines.shape
    next_op[:] = 0
    job_free[:] = 0
    machine_free[:] = 0
    for i in range(sequence.size):
        job = np.uint32(sequence[i])  # unsigned: negative ids become huge, and indexing needs no sign check
        if job >= n_jobs:
            return INVALID_SCORE
        k = np.uint32(next_op[job])
        if k >= n_machines:
            return INVALID_SCORE
        machine = np.uint32(machines[job, k])
        ready, free = job_free[job], machine_free[machine]
        end = (ready if ready > free else free) + times[job, k]  # a select: which is later is a coin toss
        job_free[job] = end
        machine_free[machine] = end
        next_op[job] = k + 1
    return machine_free.max()


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of one environment.

    It keeps copies of the data, so that code which scribbles on `environment` cannot change a score; a call
    with a contiguous int32 array allocates nothing. Other integer arrays are converted; anything that is
    not a one-dimensional integer array of length ``total_ops`` scores INVALID_SCORE.
    """
    machines = np.array(environment["machines_matrix"], dtype=np.int32, order="C")
    times = np.array(environment["times_matrix"], dtype=np.int32, order="C")
    n_jobs, n_machines = machines.shape
    shape = (n_jobs * n_machines,)
    next_op, job_free = np.empty(n_jobs, np.int64), np.empty(n_jobs, np.int64)
    machine_free = np.empty(n_machines, np.int64)

    def decode(state: State) -> float:
        sequence = int32_array(state.sequence, shape, n_jobs)
        if sequence is None:
            return float(INVALID_SCORE)
        return float(makespan(sequence, machines, times, next_op, job_free, machine_free))

    decode(State(np.zeros(shape, np.int32)))  # compiled, or loaded from numba's cache, before it is used
    return decode
