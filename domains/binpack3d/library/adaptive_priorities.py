"""Greedy adaptive search: items that end in the last bins gain priority for the next packing.

Method: every item has a priority, at first its place in the sequence at hand. After each packing the
items of the last TAIL of the bins gain STEP, so that they come earlier next time; small random changes
break ties. When nothing has improved for PATIENCE packings, the priorities start again from the best
sequence, blurred. Uses its whole share.

Source: G. Perboli, T. G. Crainic, R. Tadei, An efficient metaheuristic for multi-dimensional
multi-container packing, 2011 (greedy adaptive search procedure).

Complexity: one decoding and one sort per packing.
"""

import numpy as np
from numba import njit
from parts.first_fit import first_fit, prepare, read_bins

TAIL = 0.2  # tunable: float 0.02..0.8
STEP = 0.1  # tunable: float 0.01..1.0
BLUR = 0.05  # tunable: float 0.0..0.5
PATIENCE = 200  # tunable: int 10..10000
CHUNK_PLACED = 15_000  # items placed by one kernel call, about


# exchangeable: priority-update
@njit(cache=True)
def gain(bin_number, n_bins, tail, step, rng):
    """What an item in bin `bin_number` of `n_bins` gains in priority."""
    return step * rng.random() if bin_number >= (1.0 - tail) * n_bins - 1e-9 else 0.0


@njit(cache=True)
def search(rounds, settings, priority, status, items, arrays, free, member, n_member, best, rng):
    """Pack, reward, sort, `rounds` times; status: best score, packings since it was found."""
    tail, step, blur, patience = settings
    n = best.size
    for _ in range(rounds):
        sequence = np.argsort(-priority, kind="mergesort").astype(np.int32)
        n_bins = read_bins(sequence, items, arrays, free, member, n_member)
        size = items[2]
        value = n_bins + 0.1 * (free[n_bins - 1] / (np.int64(size[0]) * size[1] * size[2]))
        status[1] += 1.0
        if value < status[0]:
            status[0], status[1] = value, 0.0
            best[:] = sequence
        if status[1] >= patience:
            status[1] = 0.0
            for i in range(n):
                priority[best[i]] = (n - i) / n + blur * 4.0 * rng.random()
            continue
        for b in range(n_bins):
            for i in range(n_member[b]):
                priority[member[b, i]] += gain(b, n_bins, tail, step, rng) + blur * (rng.random() - 0.5)


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    items, arrays = prepare(env_data)
    best = np.array(state.sequence, dtype=np.int32)
    n, free = best.size, np.zeros(best.size, np.int64)
    member, n_member = np.zeros((n, arrays[0].shape[1]), np.int32), np.zeros(n, np.int32)
    status = np.array([first_fit(best, items, arrays, free), 0.0])
    priority = np.empty(n)
    priority[best] = (n - np.arange(n)) / n
    rounds = max(1, CHUNK_PLACED // n)
    while not budget.exhausted():
        settings = TAIL, STEP, BLUR, PATIENCE
        search(rounds, settings, priority, status, items, arrays, free, member, n_member, best, rng)
        budget.charge(rounds)
    state.sequence = best
    return state
