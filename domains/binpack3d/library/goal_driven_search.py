"""Goal-driven ruin and recreate: one bin less is asked for, and the items without a place are fought down.

Method: the emptiest bin is dissolved; its items form a pool. Again and again up to BINS_OUT random bins
are emptied together with the pool and filled anew by first fit, in the order of a noisy key: what finds
no place is the new pool. It is accepted when the weighted volume of the pool is not larger than before or
than it was HISTORY steps ago (late acceptance). Items that stay in the pool for long gain weight. An
empty pool is a packing with one bin less, and the next bin is dissolved, until the lower bound is reached
or the share is spent.

Source: S. Gardeyn, T. Wauters, A goal-driven ruin and recreate heuristic for the 2D variable-sized bin
packing problem with guillotine constraints, 2022; E. K. Burke, Y. Bykov, The late acceptance
hill-climbing heuristic, 2017; O. Faroe, D. Pisinger, M. Zachariasen, Guided local search for the
three-dimensional bin-packing problem, 2003 (penalties).

Complexity: O(b p) per step for b boxes and p candidate points in the bins that are emptied.
"""

import numpy as np
from numba import njit
from parts.first_fit import first_fit, open_packing, read_bins
from parts.generic.keeping import keep_least
from parts.repacking import gather, repack, sort_by, write_bins

BINS_OUT = 3  # tunable: int 1..6
HISTORY = 500  # tunable: int 1..20000
NOISE = 0.4  # tunable: float 0.0..2.0
KEEP_ORDER = 0.4  # tunable: float 0.0..1.0
WEIGHT_STEP = 0.1  # tunable: float 0.0..1.0
PATIENCE = 300  # tunable: int 10..10000
CHUNK_ITEMS = 30_000  # items placed by one kernel call, about


# exchangeable: lower-bound
@njit(cache=True)
def bin_bound(sizes, size):
    """A lower bound on the number of bins: total volume, and items that can only be stacked along one
    axis.
    """
    total = 0
    for item in range(sizes.shape[0]):
        total += np.int64(sizes[item, 0]) * sizes[item, 1] * sizes[item, 2]
    capacity = np.int64(size[0]) * size[1] * size[2]
    bound = (total + capacity - 1) // capacity
    for axis in range(3):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        length, long, depths = np.int64(size[axis]), 0, np.int64(0)
        for item in range(sizes.shape[0]):
            if 2 * sizes[item, first] > size[first] and 2 * sizes[item, second] > size[second]:
                depths += sizes[item, axis]
                long += 1 if 2 * sizes[item, axis] > length else 0
        bound = max(bound, long, (depths + length - 1) // length)
    return bound


@njit(cache=True)
def search(limit, settings, n_bins, status, items, arrays, free, packing, weight, history, work, rng):
    """Ruin and recreate until `limit` items were placed or the pool is empty; returns the items placed.

    status: energy of the pool, its lowest, steps since then, place in the history, size of the pool.
    """
    bins_out, noise, keep, step, patience = settings
    pool, member, n_member = packing
    batch, slots, chosen, keys = work
    volumes = items[1]
    placed = 0
    n_pool = int(status[4])
    while placed < limit and n_pool > 0:
        q = min(1 + int(rng.random() * bins_out), n_bins)
        for c in range(q):
            fresh = False
            while not fresh:
                chosen[c] = int(rng.random() * n_bins)
                fresh = True
                for e in range(c):
                    fresh = fresh and chosen[e] != chosen[c]
        count = gather(q, chosen, pool, n_pool, member, n_member, items, noise, keep, batch, keys, rng)
        repack(q, batch, count, items, arrays, free, slots)
        placed += count
        energy = 0.0
        for i in range(count):
            if slots[i] < 0:
                energy += weight[batch[i]] * volumes[batch[i]]
        spot = int(status[3])
        if energy <= status[0] or energy <= history[spot]:
            n_pool = 0
            for c in range(q):
                n_member[chosen[c]] = 0
            for i in range(count):
                if slots[i] < 0:
                    pool[n_pool] = batch[i]
                    n_pool += 1
                else:
                    b = chosen[slots[i]]
                    member[b, n_member[b]] = batch[i]
                    n_member[b] += 1
            status[0] = energy
        if status[0] < history[spot]:
            history[spot] = status[0]
        status[3] = (spot + 1) % history.size
        status[2] += 1.0
        if status[0] < status[1]:
            status[1], status[2] = status[0], 0.0
        elif status[2] >= patience:
            status[2] = 0.0
            for i in range(n_pool):
                grown = step * volumes[pool[i]]
                weight[pool[i]] += step
                status[0] += grown
            status[1] = status[0]
            history[:] = np.maximum(history, status[0])
    status[4] = n_pool
    return placed


@njit(cache=True)
def dissolve(n_bins, volumes, packing):
    """Turn the emptiest bin into the pool and let the last bin take its place; the pool's size and volume."""
    pool, member, n_member = packing
    least, lowest = 0, np.int64(2**62)
    for b in range(n_bins):
        filled = np.int64(0)
        for i in range(n_member[b]):
            filled += volumes[member[b, i]]
        if filled < lowest:
            least, lowest = b, filled
    n_pool = n_member[least]
    pool[:n_pool] = member[least, :n_pool]
    member[least] = member[n_bins - 1]
    n_member[least] = n_member[n_bins - 1]
    return n_pool, lowest


@njit(cache=True)
def best_concatenation(tries, n_bins, items, arrays, free, packing, trial, best, score, rng):
    """Decode the bins one after the other in `tries` orders, fullest first to begin with; the best score.

    `best` is replaced by a sequence that scores below `score`.
    """
    _pool, member, n_member = packing
    volumes = items[1]
    order, keys = np.arange(n_bins), np.empty(n_bins, np.float64)
    for attempt in range(tries):
        for b in range(n_bins):
            order[b] = b
            filled = 0.0
            for i in range(n_member[b]):
                filled += volumes[member[b, i]]
            keys[b] = -filled if attempt == 0 else rng.random()
        sort_by(keys, order, n_bins)
        write_bins(member, n_member, order, trial)
        value = first_fit(trial, items, arrays, free)
        score = keep_least(value, score, trial, best)
    return score


def run(env_data, state, calc_makespan_fn):
    """Lower the number of bins of `state` one by one until the bound or the end of the share."""
    budget, rng = env_data["budget"], env_data["rng"]
    items, arrays, best, free, score = open_packing(env_data, state)
    n, most = best.size, arrays[0].shape[1]
    packing = np.zeros(n, np.int32), np.zeros((n, most), np.int32), np.zeros(n, np.int32)
    work = np.zeros(n, np.int32), np.zeros(n, np.int64), np.zeros(BINS_OUT, np.int64), np.zeros(n)
    trial, history = best.copy(), np.zeros(HISTORY)
    settings = BINS_OUT, NOISE, KEEP_ORDER, WEIGHT_STEP, PATIENCE
    n_bins = read_bins(best, items, arrays, free, packing[1], packing[2])
    bound = bin_bound(items[0], items[2])
    score = best_concatenation(1, n_bins, items, arrays, free, packing, trial, best, score, rng)
    while n_bins > max(bound, 1) and not budget.exhausted():
        n_pool, volume = dissolve(n_bins, items[1], packing)
        n_bins -= 1
        history[:] = volume
        weight, status = np.ones(n), np.array([volume, volume, 0.0, 0.0, n_pool], np.float64)
        while status[4] > 0 and not budget.exhausted():
            placed = search(
                CHUNK_ITEMS, settings, n_bins, status, items, arrays, free, packing, weight, history, work,
                rng,
            )  # fmt: skip
            budget.charge(max(1, placed // n))
        if status[4] == 0:
            score = best_concatenation(5, n_bins, items, arrays, free, packing, trial, best, score, rng)
    state.sequence = best
    return state
