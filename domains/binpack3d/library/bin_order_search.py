"""Reordering of whole bins: the sequence is written bin by bin, and bins change places.

Method: every bin in turn, fuller ones first, is put last with the others in the order of falling volume;
then random swaps of two bins are tried until PATIENCE of them in a row bring nothing. Since first fit
looks at earlier bins first, an item may slip into a gap of a bin that now stands before its own, which
can empty a bin; and the fullest bin should end the sequence.

Source: A. Lodi, S. Martello, D. Vigo, Heuristic algorithms for the three-dimensional bin packing problem,
2002; E. Falkenauer, A hybrid grouping genetic algorithm for bin packing, 1996 (bins as building blocks).

Complexity: one decoding per order.
"""

import numpy as np
from numba import njit
from parts.first_fit import first_fit, open_packing, read_bins
from parts.generic.keeping import keep_least
from parts.repacking import write_bins

PATIENCE = 300  # tunable: int 10..10000
CHUNK_PLACED = 15_000  # items placed by one kernel call, about


# exchangeable: bin-move
@njit(cache=True)
def exchanged(order, rng):
    """Exchange two random entries of `order` in place; returns their places."""
    a, b = int(rng.random() * order.size), int(rng.random() * order.size)
    order[a], order[b] = order[b], order[a]
    return a, b


@njit(cache=True)
def put_last(step, items, arrays, free, member, n_member, trial, best, score):
    """Decode with bin number `step` by falling volume at the end and the others in that order; lowest
    score.
    """
    n_bins = read_bins(best, items, arrays, free, member, n_member)
    order = np.argsort(free[:n_bins])
    last = order[step]
    order[step : n_bins - 1] = order[step + 1 :].copy()
    order[n_bins - 1] = last
    write_bins(member, n_member, order, trial)
    value = first_fit(trial, items, arrays, free)
    return keep_least(value, score, trial, best)


@njit(cache=True)
def search(rounds, status, items, arrays, free, member, n_member, trial, best, rng):
    """Try `rounds` exchanges of bins; status: score, exchanges since it fell."""
    n_bins = read_bins(best, items, arrays, free, member, n_member)
    order = np.arange(n_bins)
    for _ in range(rounds):
        a, b = exchanged(order, rng)
        write_bins(member, n_member, order, trial)
        value = first_fit(trial, items, arrays, free)
        status[1] += 1.0
        if value < status[0]:
            status[0], status[1] = value, 0.0
            best[:] = trial
            n_bins = read_bins(best, items, arrays, free, member, n_member)
            order = np.arange(n_bins)
        elif value > status[0]:
            order[a], order[b] = order[b], order[a]


def run(env_data, state, calc_makespan_fn):
    """Reorder the bins of `state` until nothing improves or the share is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    items, arrays, best, free, score = open_packing(env_data, state)
    trial, n = best.copy(), best.size
    member, n_member = np.zeros((n, arrays[0].shape[1]), np.int32), np.zeros(n, np.int32)
    step = 0
    while step < read_bins(best, items, arrays, free, member, n_member) and not budget.exhausted():
        score = put_last(step, items, arrays, free, member, n_member, trial, best, score)
        budget.charge(2)
        step += 1
    status = np.array([score, 0.0])
    rounds = max(1, CHUNK_PLACED // n)
    while status[1] < PATIENCE and not budget.exhausted():
        search(rounds, status, items, arrays, free, member, n_member, trial, best, rng)
        budget.charge(rounds)
    state.sequence = best
    return state
