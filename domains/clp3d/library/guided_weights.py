"""Guided search: boxes that are left out gain priority, and all priorities fade.

Method: every item has a priority, at first its place in the sequence at hand, and every type
another, at first nothing. After each loading the items that were left out gain up to STEP, and so
do their types by SHARED of it; small random changes break ties. When nothing has improved for
PATIENCE loadings, the priorities start again from the best sequence. Uses its whole share.

Source: G. Perboli, T. G. Crainic, R. Tadei, An efficient metaheuristic for multi-dimensional
multi-container packing, 2011 (adaptive priorities); O. Faroe, D. Pisinger, M. Zachariasen, Guided
local search for the three-dimensional bin-packing problem, 2003.

Complexity: one loading and one sort each.
"""

import numpy as np
from numba import njit
from parts.loading import prepare
from parts.packing.placement import load

STEP_UP = 0.1  # tunable: float 0.001..1.0
SHARED = 0.5  # tunable: float 0.0..2.0
BLUR = 0.03  # tunable: float 0.0..0.5
PATIENCE = 150  # tunable: int 10..10000
CHUNK_BOXES = 6_000  # boxes offered by one kernel call, about


# exchangeable: priority-update
@njit(cache=True)
def gain(volume, step, rng):
    """What an item that was left out gains in priority; `volume` is its share of the largest item's."""
    return step * (0.5 + 0.5 * volume) * rng.random()


@njit(cache=True)
def search(rounds, settings, priority, of_type, status, boxes, arrays, best, rng):
    """Load, reward, sort, `rounds` times; status: largest volume, loadings since."""
    step, shared, blur, patience = settings
    kind, volumes, n, is_out = boxes[0], boxes[3], best.size, arrays[6]
    largest = volumes.max()
    for _ in range(rounds):
        sequence = np.argsort(-(priority + of_type[kind]), kind="mergesort").astype(np.int32)
        packed = load(sequence, np.int64(0), boxes, arrays)
        status[1] += 1
        if packed > status[0]:
            status[0], status[1] = packed, 0
            best[:] = sequence
        if status[1] >= patience:
            status[1] = 0
            of_type[:] = 0.0
            for i in range(n):
                priority[best[i]] = (n - i) / n
            continue
        for t in range(of_type.size):
            of_type[t] += blur * (rng.random() - 0.5)
        for item in range(n):
            priority[item] += 0.3 * blur * (rng.random() - 0.5)
            if is_out[item]:
                more = gain(volumes[item] / largest, step, rng)
                priority[item] += more
                of_type[kind[item]] += shared * more * rng.random()


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    boxes, arrays = prepare(env_data)
    best = np.array(state.sequence, dtype=np.int32)
    n = best.size
    of_type, priority = np.zeros(boxes[2].size - 1), np.empty(n)
    priority[best] = (n - np.arange(n)) / n
    status = np.array([load(best, np.int64(0), boxes, arrays), 0], np.int64)
    rounds, settings = max(1, CHUNK_BOXES // n), (STEP_UP, SHARED, BLUR, PATIENCE)
    while not budget.exhausted():
        search(rounds, settings, priority, of_type, status, boxes, arrays, best, rng)
        budget.charge(rounds)
    state.sequence = best
    return state
