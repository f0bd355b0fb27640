"""Fills the last bin: with the number of bins fixed, the fullest bin grows at the expense of the others.

Method: the packing is taken apart into bins, and the fullest one is chosen to stand last. Again and again
it is emptied together with up to BINS_OUT - 1 others, and all these items are packed anew in the order of
a noisy key, into the chosen bin first. The result is kept when every item found a place and the chosen
bin holds no less; now and then only other bins are repacked. Whenever the chosen bin has grown, the bins
are written one after the other with it at the end and decoded by the rule of the card; the best sequence
is the answer.

Source: E. Falkenauer, A hybrid grouping genetic algorithm for bin packing, 1996 (fill some bins well
rather than all alike); G. Schrimpf, J. Schneider, H. Stamm-Wilbrandt, G. Dueck, Record breaking
optimization results using the ruin and recreate principle, 2000.

Complexity: O(b p) per step for b boxes and p candidate points in the bins that are emptied; O(n)
placements for each growth of the chosen bin.
"""

import numpy as np
from numba import njit
from parts.first_fit import first_fit, open_packing, read_bins
from parts.repacking import gather, repack, sort_by, write_bins

BINS_OUT = 3  # tunable: int 2..6
NOISE = 0.5  # tunable: float 0.0..2.0
KEEP_ORDER = 0.3  # tunable: float 0.0..1.0
OTHERS_ONLY = 0.2  # tunable: float 0.0..0.9
PATIENCE = 4000  # tunable: int 100..100000
CHUNK_ITEMS = 20_000  # items placed by one kernel call, about


@njit(cache=True)
def volume_of(b, member, n_member, volumes):
    """Volume of the items in bin b."""
    filled = np.int64(0)
    for i in range(n_member[b]):
        filled += volumes[member[b, i]]
    return filled


@njit(cache=True)
def decode_with_last(last, n_bins, items, arrays, free, member, n_member, trial):
    """Write the bins into `trial`, fullest first but for bin `last`, which ends it; score of the sequence."""
    order, keys = np.arange(n_bins), np.empty(n_bins, np.float64)
    for b in range(n_bins):
        keys[b] = -1.0 * volume_of(b, member, n_member, items[1]) if b != last else 1.0
    sort_by(keys, order, n_bins)
    write_bins(member, n_member, order, trial)
    return first_fit(trial, items, arrays, free)


@njit(cache=True)
def search(limit, settings, n_bins, last, status, items, arrays, free, packing, work, trial, best, rng):
    """Repack until `limit` items were placed or nothing grew for `patience` steps; returns the items placed.

    status: volume of the last bin, steps since it grew, best score.
    """
    bins_out, noise, keep, others_only, patience = settings
    member, n_member = packing
    batch, slots, chosen, keys = work
    volumes = items[1]
    placed = 0
    while placed < limit and status[1] < patience:
        q = min(2 + int(rng.random() * (bins_out - 1)), n_bins)
        with_last = n_bins == q or rng.random() >= others_only
        for c in range(q):
            fresh = False
            while not fresh:
                chosen[c] = int(rng.random() * n_bins)
                if c == 0 and with_last:
                    chosen[c] = last
                fresh = with_last or chosen[c] != last
                for e in range(c):
                    fresh = fresh and chosen[e] != chosen[c]
        count = gather(q, chosen, slots, 0, member, n_member, items, noise, keep, batch, keys, rng)
        repack(q, batch, count, items, arrays, free, slots)
        placed += count
        status[1] += 1.0
        filled = 0.0
        complete = True
        for i in range(count):
            complete = complete and slots[i] >= 0
            if slots[i] == 0:
                filled += volumes[batch[i]]
        if complete and (not with_last or filled >= status[0]):
            for c in range(q):
                n_member[chosen[c]] = 0
            for i in range(count):
                b = chosen[slots[i]]
                member[b, n_member[b]] = batch[i]
                n_member[b] += 1
            if with_last and filled > status[0]:
                status[0], status[1] = filled, 0.0
                value = decode_with_last(last, n_bins, items, arrays, free, member, n_member, trial)
                placed += batch.size
                if value < status[2]:
                    status[2] = value
                    best[:] = trial
    return placed


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share is spent; each time nothing grows any more, start at it again."""
    budget, rng = env_data["budget"], env_data["rng"]
    items, arrays, best, free, score = open_packing(env_data, state)
    n, most = best.size, arrays[0].shape[1]
    packing = np.zeros((n, most), np.int32), np.zeros(n, np.int32)
    work = np.zeros(n, np.int32), np.zeros(n, np.int64), np.zeros(BINS_OUT, np.int64), np.zeros(n)
    trial = best.copy()
    settings = BINS_OUT, NOISE, KEEP_ORDER, OTHERS_ONLY, PATIENCE
    volumes, rounds = items[1], 0
    while not budget.exhausted():
        n_bins = read_bins(best, items, arrays, free, *packing)
        if n_bins == 1:
            break
        filled = [volume_of(b, *packing, volumes) for b in range(n_bins)]
        rank = 0 if rounds % 2 == 0 else int(rng.integers(n_bins))
        last = int(np.argsort(filled)[n_bins - 1 - rank])
        score = min(score, first_fit(best, items, arrays, free))
        status = np.array([filled[last], 0.0, score])
        value = decode_with_last(last, n_bins, items, arrays, free, *packing, trial)
        if value < score:
            status[2] = value
            best[:] = trial
        while status[1] < PATIENCE and not budget.exhausted():
            placed = search(
                CHUNK_ITEMS, settings, n_bins, last, status, items, arrays, free, packing, work, trial, best,
                rng,
            )  # fmt: skip
            budget.charge(max(1, placed // n))
        score = status[2]
        rounds += 1
    state.sequence = best
    return state
