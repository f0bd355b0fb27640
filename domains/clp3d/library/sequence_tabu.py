"""Tabu search on runs of boxes, with partial decoding.

Method: of SAMPLE neighbours, each a stretch of the sequence moved or exchanged, the one that packs
most becomes the present sequence even if it is worse, unless the type of its first changed box was
moved there during the last TENURE moves or so and it is no new best. After PATIENCE moves without
a new best the search starts again from the best one.

Source: A. Bortfeldt, H. Gehring, D. Mack, A parallel tabu search algorithm for solving the
container loading problem, 2003.

Complexity: SAMPLE partial loadings per move.
"""

import numpy as np
from numba import njit
from parts.loading import prepare
from parts.resumed_loading import accept, begin, change, resume, storage

SAMPLE = 10  # tunable: int 2..200
TENURE = 6  # tunable: int 1..100
PATIENCE = 200  # tunable: int 10..10000
LONGEST = 6  # tunable: int 1..60
STEP = 6  # tunable: int 1..60
CHUNK_BOXES = 6_000  # boxes offered by one kernel call, about


# exchangeable: tabu-tenure
@njit(cache=True)
def tenure_of(base, n, rng):
    """For how many moves a type that has moved stays where it is."""
    return base + int(rng.random() * base)


@njit(cache=True)
def search(moves, settings, status, boxes, arrays, saved, marks, until, current, trial, chosen, best, rng):
    """Make `moves` moves; status: volume of `best`, moves made, moves since the best."""
    sample, tenure, patience, longest, step = settings
    kind, n = boxes[0], current.size
    for _ in range(moves):
        most, first = np.int64(-1), n
        for _trial in range(sample):
            start = change(current, trial, kind, longest, rng)
            if start == n:
                continue
            is_tabu = until[kind[trial[start]]] > status[1]
            needed = max(most, status[0] if is_tabu else np.int64(0)) + 1
            packed = resume(trial, start, needed, step, boxes, arrays, saved, marks)
            if packed >= needed:
                most, first = packed, start
                chosen[:] = trial
        status[1] += 1
        status[2] += 1
        if first < n:
            resume(chosen, first, np.int64(0), step, boxes, arrays, saved, marks)
            accept(first, step, arrays, saved, marks)
            until[kind[current[first]]] = status[1] + tenure_of(tenure, n, rng)
            current[:] = chosen
        if most > status[0]:
            status[0], status[2] = most, 0
            best[:] = current
        elif status[2] >= patience:
            status[2] = 0
            current[:] = best
            begin(current, step, boxes, arrays, saved, marks)


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    boxes, arrays = prepare(env_data)
    saved, marks = storage(boxes, STEP)
    best = np.array(state.sequence, dtype=np.int32)
    current, trial, chosen = best.copy(), best.copy(), best.copy()
    status = np.array([begin(current, STEP, boxes, arrays, saved, marks), 0, 0], np.int64)
    until = np.zeros(boxes[2].size - 1, np.int64)
    moves = max(1, CHUNK_BOXES // (best.size * SAMPLE))
    settings = SAMPLE, TENURE, PATIENCE, LONGEST, STEP
    while not budget.exhausted():
        search(moves, settings, status, boxes, arrays, saved, marks, until, current, trial, chosen, best, rng)
        budget.charge(moves * SAMPLE)
    state.sequence = best
    return state
