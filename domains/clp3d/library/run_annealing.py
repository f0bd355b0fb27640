"""Simulated annealing on runs of boxes, with partial decoding.

Method: a stretch of the sequence, mostly a run of equal boxes or a part of it, is moved or changes
places with another. Loading resumes at the last state saved before the first change, and stops as
soon as the boxes left out show that the neighbour cannot be accepted: the random number of the
Metropolis rule is drawn beforehand. The temperature falls geometrically from HOT to COLD, in
percent of the container, over the share of the budget.

Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by simulated annealing, 1983; A.
Bortfeldt, H. Gehring, A hybrid genetic algorithm for the container loading problem, 2001
(sequences of blocks of equal boxes).

Complexity: one partial loading per proposal.
"""

import numpy as np
from numba import njit
from parts.packing.cooling import temperature
from parts.resumed_loading import change, opened, resume, take

HOT = 0.6  # tunable: float 0.01..10.0
COLD = 0.03  # tunable: float 0.0005..1.0
LONGEST = 6  # tunable: int 1..60
STEP = 6  # tunable: int 1..60
CHUNK_BOXES = 6_000  # boxes offered by one kernel call, about


@njit(cache=True)
def search(proposals, heat, longest, step, status, boxes, arrays, saved, marks, current, trial, best, rng):
    """Make `proposals` proposals; status: volume of `current` and of `best`."""
    for _ in range(proposals):
        start = change(current, trial, boxes[0], longest, rng)
        if start == current.size:
            continue
        needed = np.int64(np.ceil(status[0] + heat * np.log(1.0 - rng.random())))
        packed = resume(trial, start, needed, step, boxes, arrays, saved, marks)
        if packed >= needed:
            take(trial, packed, start, step, status, arrays, saved, marks, current, best)


def run(env_data, state, calc_makespan_fn):
    """Anneal from `state` until the share is spent; the best sequence seen is the answer."""
    budget, rng = env_data["budget"], env_data["rng"]
    boxes, arrays, saved, marks, best, current, trial, status = opened(env_data, state, STEP)
    percent = float(boxes[4].astype(np.int64).prod()) / 100.0
    proposals = max(5, CHUNK_BOXES // best.size)
    while not budget.exhausted():
        heat = percent * temperature(budget.remaining(), HOT, COLD)
        search(proposals, heat, LONGEST, STEP, status, boxes, arrays, saved, marks, current, trial, best, rng)
        budget.charge(proposals)
    state.sequence = best
    return state
