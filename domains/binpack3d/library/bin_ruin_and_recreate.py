"""Ruin and recreate over bins: a few bins are broken up and their items packed among the rest.

Method: the sequence is written bin by bin. Up to BINS_OUT random bins, the emptiest among them more often
than not, are taken out; their items come back in front of the others or behind them, by falling blurred
volume, and the whole is decoded. The result is accepted when it is at most TOLERANCE worse than the
present packing, which shrinks to nothing over the share of the budget.

Source: G. Schrimpf, J. Schneider, H. Stamm-Wilbrandt, G. Dueck, Record breaking optimization results
using the ruin and recreate principle, 2000; T. G. Crainic, G. Perboli, R. Tadei, TS2PACK: a two-level
tabu search for the three-dimensional bin packing problem, 2009 (moves between bins).

Complexity: one decoding per step.
"""

import numpy as np
from numba import njit
from parts.first_fit import first_fit, open_packing, read_bins
from parts.repacking import sort_by, write_bins

BINS_OUT = 3  # tunable: int 1..10
NOISE = 0.5  # tunable: float 0.0..1.0
TOLERANCE = 0.03  # tunable: float 0.0..1.0
CHUNK_PLACED = 15_000  # items placed by one kernel call, about


# exchangeable: bin-choice
@njit(cache=True)
def ruined(b, n_bins, emptiness, share, rng):
    """Whether bin b, whose empty share is `emptiness`, is broken up; `share` of the bins should be."""
    return rng.random() < share * (0.5 + 2.0 * emptiness)


@njit(cache=True)
def search(rounds, settings, slack, status, items, arrays, free, member, n_member, current, best, rng):
    """Ruin and recreate `rounds` times; status: score of `current` and of `best`."""
    bins_out, noise = settings
    _sizes, volumes, size, _least = items
    capacity = np.float64(size[0]) * size[1] * size[2]
    n = current.size
    trial, loose, keys = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.float64)
    order = np.empty(n, np.int64)
    for _ in range(rounds):
        n_bins = read_bins(current, items, arrays, free, member, n_member)
        out = min(1 + int(rng.random() * bins_out), n_bins)
        n_loose, n_kept = 0, 0
        for b in range(n_bins):
            if ruined(b, n_bins, free[b] / capacity, out / n_bins, rng):
                for i in range(n_member[b]):
                    item = member[b, i]
                    loose[n_loose] = item
                    keys[n_loose] = -volumes[item] * (1.0 - noise * rng.random())
                    n_loose += 1
            else:
                order[n_kept] = b
                n_kept += 1
        sort_by(keys, loose, n_loose)
        last = int(rng.random() * n_kept) if n_kept > 0 else 0
        if n_kept > 0:
            order[last], order[n_kept - 1] = order[n_kept - 1], order[last]
        at_front = rng.random() < 0.5
        start = n_loose if at_front else 0
        write_bins(member, n_member, order[:n_kept], trial[start:])
        start = 0 if at_front else n - n_loose
        trial[start : start + n_loose] = loose[:n_loose]
        value = first_fit(trial, items, arrays, free)
        if value <= status[0] + slack:
            status[0] = value
            current[:] = trial
        if value < status[1]:
            status[1] = value
            best[:] = trial


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    items, arrays, best, free, score = open_packing(env_data, state)
    current, n = best.copy(), best.size
    member, n_member = np.zeros((n, arrays[0].shape[1]), np.int32), np.zeros(n, np.int32)
    status = np.array([score, score])
    rounds = max(1, CHUNK_PLACED // (2 * n))
    while not budget.exhausted():
        slack, settings = TOLERANCE * budget.remaining(), (BINS_OUT, NOISE)
        search(rounds, settings, slack, status, items, arrays, free, member, n_member, current, best, rng)
        budget.charge(2 * rounds)
    state.sequence = best
    return state
