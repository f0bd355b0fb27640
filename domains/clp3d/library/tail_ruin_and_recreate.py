"""Ruin and recreate of the tail of the loading.

Method: the sequence is cut at a random place, later ones more often. What follows is sorted anew:
by blurred volume with equal boxes together, or by its old order blurred. The loading of the part
before the cut is not repeated. The result is accepted when it is at most TOLERANCE percent of the
container worse, which shrinks to nothing over the share of the budget.

Source: G. Schrimpf, J. Schneider, H. Stamm-Wilbrandt, G. Dueck, Record breaking optimization
results using the ruin and recreate principle, 2000; F. Parreño, R. Alvarez-Valdes, J. F. Oliveira,
J. M. Tamarit, Neighborhood structures for the container loading problem, 2010 (emptying a part of
the container).

Complexity: one partial loading per step.
"""

import numpy as np
from numba import njit
from parts.resumed_loading import opened, resume, take

TOLERANCE = 0.5  # tunable: float 0.0..5.0
NOISE = 0.4  # tunable: float 0.0..2.0
SHORTEST = 0.1  # tunable: float 0.01..0.9
STEP = 6  # tunable: int 1..60
CHUNK_BOXES = 6_000  # boxes offered by one kernel call, about


# exchangeable: tail-key
@njit(cache=True)
def tail_key(rank, volume, type_draw, item_draw, noise, keep_order):
    """Sorting key of an item of the tail (smaller: earlier): `rank` and `volume` in [0, 1], draws in
    [0, 1).
    """
    if keep_order:
        return rank + noise * (0.7 * type_draw + 0.3 * item_draw)
    return -volume * (1.0 + noise * type_draw)


@njit(cache=True)
def search(
    steps, slack, noise, shortest, step, status, boxes, arrays, saved, marks, current, trial, best, rng
):
    """Make `steps` steps; status: volume of `current` and of `best`."""
    kind, volumes, n = boxes[0], boxes[3], current.size
    largest = volumes.max()
    draws = np.empty(boxes[2].size - 1, np.float64)
    for _ in range(steps):
        share = shortest + (1.0 - shortest) * rng.random() ** 2
        cut = n - max(2, int(share * n)) if n > 2 else 0
        keep_order = rng.random() < 0.6
        for t in range(draws.size):
            draws[t] = rng.random()
        keys = np.empty(n - cut, np.float64)
        for i in range(cut, n):
            item = current[i]
            rank, volume = (i - cut) / (n - cut), volumes[item] / largest
            keys[i - cut] = tail_key(rank, volume, draws[kind[item]], rng.random(), noise, keep_order)
        order = np.argsort(keys, kind="mergesort")
        trial[:cut] = current[:cut]
        for i in range(cut, n):
            trial[i] = current[cut + order[i - cut]]
        needed = np.int64(status[0] - slack)
        packed = resume(trial, cut, needed, step, boxes, arrays, saved, marks)
        if packed >= needed:
            take(trial, packed, cut, step, status, arrays, saved, marks, current, best)


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    boxes, arrays, saved, marks, best, current, trial, status = opened(env_data, state, STEP)
    percent = float(boxes[4].astype(np.int64).prod()) / 100.0
    steps = max(5, CHUNK_BOXES // best.size)
    while not budget.exhausted():
        slack = percent * TOLERANCE * budget.remaining()
        search(
            steps, slack, NOISE, SHORTEST, STEP, status, boxes, arrays, saved, marks, current, trial, best,
            rng,
        )  # fmt: skip
        budget.charge(steps)
    state.sequence = best
    return state
