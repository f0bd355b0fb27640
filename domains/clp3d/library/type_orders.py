"""Construction: the best of many orders of the types, equal boxes together.

Method: the types are sorted by falling volume, base area, longest and shortest side; further
orders sort them by blurred volume or at random. All boxes of a type follow one another, so that
first fit builds rows and layers of equal boxes. TRIES orders are loaded and the best is kept.

Source: F. Parreño, R. Alvarez-Valdes, J. M. Tamarit, J. F. Oliveira, A maximal-space algorithm for
the container loading problem, 2008 (blocks of equal boxes, randomised construction).

Complexity: one loading per order.
"""

import numpy as np
from numba import njit
from parts.loading import prepare
from parts.packing.placement import load

TRIES = 300  # tunable: int 4..20000
NOISE = 0.5  # tunable: float 0.0..1.0
CHUNK_BOXES = 6_000  # boxes offered by one kernel call, about


@njit(cache=True)
def search(first, last, criteria, noise, boxes, arrays, best, most, rng):
    """Load orders number first to last - 1; the largest volume, its sequence in `best`."""
    kind, n_types = boxes[0], boxes[2].size - 1
    draws, keys = np.empty(n_types, np.float64), np.empty(kind.size, np.float64)
    for trial in range(first, last):
        row = trial % criteria.shape[0]
        is_plain, is_random = trial < criteria.shape[0], trial % 2 == 0
        for t in range(n_types):
            draws[t] = rng.random()
        for item in range(kind.size):
            t = kind[item]
            keys[item] = -criteria[row, item]
            if not is_plain:
                keys[item] *= 1.0 - noise * draws[t]
                if is_random:
                    keys[item] = draws[t]
            keys[item] += 1e-9 * t
        sequence = np.argsort(keys, kind="mergesort").astype(np.int32)
        packed = load(sequence, most + 1, boxes, arrays)
        if packed > most:
            most = packed
            best[:] = sequence
    return most


def run(env_data, state, calc_makespan_fn):
    """Try up to TRIES orders."""
    budget, rng = env_data["budget"], env_data["rng"]
    boxes, arrays = prepare(env_data)
    sides = np.sort(np.asarray(env_data["item_sizes"]), axis=1).astype(np.float64)
    criteria = np.stack([sides.prod(axis=1), sides[:, 1] * sides[:, 2], sides[:, 2], sides[:, 0]])
    n = len(sides)
    best, most = np.argsort(-boxes[3], kind="stable").astype(np.int32), np.int64(-1)
    done, step = 0, max(4, CHUNK_BOXES // n)
    while done < TRIES and (done == 0 or not budget.exhausted()):
        last = min(done + step, max(TRIES, 4))
        most = search(done, last, criteria, NOISE, boxes, arrays, best, most, rng)
        budget.charge(last - done)
        done = last
    state.sequence = best
    return state
