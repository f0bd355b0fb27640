"""Tabu search on the sequence.

Method: of SAMPLE random moves (swaps and insertions) the best one is made even if it is worse, unless one
of its items moved during the last TENURE moves or so and it is no new best. After PATIENCE moves without
a new best the search starts again from the best sequence. Uses its whole share.

Source: A. Lodi, S. Martello, D. Vigo, Heuristic algorithms for the three-dimensional bin packing problem,
2002 (tabu search for bin packing); F. Glover, Tabu search, part I, 1989.

Complexity: SAMPLE decodings per move.
"""

import numpy as np
from numba import njit
from parts.first_fit import first_fit, prepare

SAMPLE = 12  # tunable: int 2..200
TENURE = 8  # tunable: int 1..200
PATIENCE = 150  # tunable: int 10..10000
CHUNK_PLACED = 15_000  # items placed by one kernel call, about


# exchangeable: tabu-tenure
@njit(cache=True)
def tenure_of(base, n, rng):
    """For how many moves an item that has moved stays where it is."""
    return base + int(rng.random() * base)


@njit(cache=True)
def apply(sequence, a, b, swap):
    """Exchange entries a and b, or put entry a at place b."""
    item = sequence[a]
    if swap:
        sequence[a], sequence[b] = sequence[b], item
    elif a < b:
        for i in range(a, b):
            sequence[i] = sequence[i + 1]
        sequence[b] = item
    else:
        for i in range(a, b, -1):
            sequence[i] = sequence[i - 1]
        sequence[b] = item


@njit(cache=True)
def search(rounds, settings, status, items, arrays, free, until, current, best, rng):
    """Make `rounds` moves; status: best score, moves made, moves since the best."""
    sample, tenure, patience = settings
    n = current.size
    for _ in range(rounds):
        move_a, move_b, move_swap, lowest = -1, -1, False, np.inf
        for _trial in range(sample):
            a, b, swap = int(rng.random() * n), int(rng.random() * n), rng.random() < 0.5
            if a == b:
                continue
            is_tabu = until[current[a]] > status[1] or (swap and until[current[b]] > status[1])
            apply(current, a, b, swap)
            value = first_fit(current, items, arrays, free)
            apply(current, b, a, swap)
            if value < lowest and (not is_tabu or value < status[0]):
                move_a, move_b, move_swap, lowest = a, b, swap, value
        status[1] += 1.0
        status[2] += 1.0
        if move_a >= 0:
            until[current[move_a]] = status[1] + tenure_of(tenure, n, rng)
            if move_swap:
                until[current[move_b]] = status[1] + tenure_of(tenure, n, rng)
            apply(current, move_a, move_b, move_swap)
        if lowest < status[0]:
            status[0], status[2] = lowest, 0.0
            best[:] = current
        elif status[2] >= patience:
            status[2] = 0.0
            current[:] = best


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    items, arrays = prepare(env_data)
    best = np.array(state.sequence, dtype=np.int32)
    current, n, free = best.copy(), best.size, np.zeros(best.size, np.int64)
    status = np.array([first_fit(best, items, arrays, free), 0.0, 0.0])
    until = np.zeros(n)
    rounds = max(1, CHUNK_PLACED // (n * SAMPLE))
    while not budget.exhausted():
        search(rounds, (SAMPLE, TENURE, PATIENCE), status, items, arrays, free, until, current, best, rng)
        budget.charge(rounds * SAMPLE)
    state.sequence = best
    return state
