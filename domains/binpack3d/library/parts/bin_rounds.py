"""Rounds of large neighbourhood search on bins: some bins are emptied and their items packed into them anew.

The file brings ``packing_key``, the order of the items; ``accepts``, whether the new packing stays; and BINS,
the most that are emptied at once.

Source: P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems"
(1998), for the search; O. Faroe, D. Pisinger, M. Zachariasen, "Guided local search for the three-dimensional
bin-packing problem" (2003), for bins that are to become empty.
"""

import numpy as np
from numba import njit
from parts.first_fit import first_fit, open_packing, read_bins
from parts.generic.keeping import keep_least
from parts.repacking import repack, sort_by, write_bins
from parts.taker import BINS, accepts, packing_key

CHUNK_ITEMS = 10_000


@njit(cache=True)
def choose_bins(chosen, n_bins, filled, rng):
    """Write two to BINS different bins into `chosen`, drawn at random; returns how many."""
    q = min(2 + int(rng.random() * (BINS - 1)), n_bins)
    for c in range(q):
        is_fresh = False
        while not is_fresh:
            chosen[c] = int(rng.random() * n_bins)
            is_fresh = True
            for e in range(c):
                is_fresh = is_fresh and chosen[e] != chosen[c]
    return q


@njit(cache=True)
def make_rounds(n_bins, progress, filled, items, arrays, free, packing, work, n_items, rng):
    """Make rounds until about `n_items` items were packed when the share `progress` of the time is over;
    returns the number of bins and the items packed.

    filled: volume in each bin; packing = (items of each bin, how many); work = scratch.
    """
    _sizes, volumes, size, _least = items
    member, n_member = packing
    batch, slots, keys, chosen, new_fill = work
    capacity = np.float64(size[0]) * size[1] * size[2]
    packed = 0
    while packed < n_items and n_bins > 1:
        q = choose_bins(chosen, n_bins, filled, rng)
        count, before = 0, 0.0
        for c in range(q):
            b = chosen[c]
            before += (filled[b] / capacity) ** 2
            for i in range(n_member[b]):
                batch[count] = item = member[b, i]
                keys[count] = packing_key(i, volumes[item] / capacity, rng)
                count += 1
        sort_by(keys, batch, count)
        repack(q, batch, count, items, arrays, free, slots)
        packed += count + 1
        after, is_whole = 0.0, True
        new_fill[:q] = 0
        for i in range(count):
            if slots[i] < 0:
                is_whole = False
                break
            new_fill[slots[i]] += volumes[batch[i]]
        for c in range(q):
            after += (new_fill[c] / capacity) ** 2
        if not is_whole or not accepts(before - after, progress, rng):
            continue
        for c in range(q):
            n_member[chosen[c]], filled[chosen[c]] = 0, new_fill[c]
        for i in range(count):
            b = chosen[slots[i]]
            member[b, n_member[b]] = batch[i]
            n_member[b] += 1
        for b in range(n_bins - 1, -1, -1):
            if n_member[b] == 0:
                n_bins -= 1
                member[b], n_member[b], filled[b] = member[n_bins], n_member[n_bins], filled[n_bins]
    return n_bins, packed


@njit(cache=True)
def best_order(n_bins, filled, items, arrays, free, packing, trial, best, score):
    """Decode the bins one after the other, the fullest first and the emptiest first; the best score.

    `best` is replaced by a sequence that scores below `score`.
    """
    order = np.argsort(filled[:n_bins].astype(np.float64))
    for _ in range(2):
        order = order[::-1].copy()
        write_bins(packing[0], packing[1], order, trial)
        value = first_fit(trial, items, arrays, free)
        score = keep_least(value, score, trial, best)
    return score


def search_by_bins(env_data, state):
    """Make rounds from `state` until the share is spent; the best packing that was looked at."""
    budget, rng = env_data["budget"], env_data["rng"]
    items, arrays, best, free, score = open_packing(env_data, state)
    n, most = best.size, arrays[0].shape[1]
    packing = np.zeros((n, most), np.int32), np.zeros(n, np.int32)
    work = np.zeros(n, np.int32), np.zeros(n, np.int64), np.zeros(n), *np.zeros((2, n), np.int64)
    n_bins = read_bins(best, items, arrays, free, *packing)
    capacity = int(items[2].astype(np.int64).prod())
    filled, trial = capacity - free, best.copy()
    while not budget.exhausted():
        progress = 1.0 - budget.remaining()
        n_bins, packed = make_rounds(
            n_bins, progress, filled, items, arrays, free, packing, work, CHUNK_ITEMS, rng
        )
        score = best_order(n_bins, filled, items, arrays, free, packing, trial, best, score)
        budget.charge(max(1, packed // n) + 2)
    state.sequence = best
    return state
