"""Construction: the best of many orders, each a blurred sort by volume, height or base area.

Method: the plain orders by falling volume, height, base area and longest side are decoded first, then
copies whose keys are blurred by up to NOISE of their value, until TRIES orders were tried or the share is
spent.

Source: T. G. Crainic, G. Perboli, R. Tadei, Extreme point-based heuristics for three-dimensional bin
packing, 2008; F. Parreño, R. Alvarez-Valdes, J. F. Oliveira, J. M. Tamarit, A hybrid GRASP/VND algorithm
for two- and three-dimensional bin packing, 2010 (randomised construction).

Complexity: one decoding per order.
"""

import numpy as np
from numba import njit
from parts.first_fit import first_fit, prepare
from parts.generic.keeping import keep_least

TRIES = 400  # tunable: int 4..20000
NOISE = 0.3  # tunable: float 0.0..1.0
CHUNK_PLACED = 20_000  # items placed by one kernel call, about


@njit(cache=True)
def search(first, last, criteria, noise, items, arrays, free, best, score, rng):
    """Decode orders number first to last - 1; the lowest score, its sequence in `best`."""
    n = best.size
    keys = np.empty(n, np.float64)
    for trial in range(first, last):
        row = trial % criteria.shape[0]
        for item in range(n):
            keys[item] = -criteria[row, item]
            if trial >= criteria.shape[0]:
                keys[item] *= 1.0 - noise * rng.random()
        sequence = np.argsort(keys, kind="mergesort").astype(np.int32)
        value = first_fit(sequence, items, arrays, free)
        score = keep_least(value, score, sequence, best)
    return score


def run(env_data, state, calc_makespan_fn):
    """Try up to TRIES orders."""
    budget, rng = env_data["budget"], env_data["rng"]
    items, arrays = prepare(env_data)
    sides = items[0].astype(np.float64)
    base = sides[:, 0] * sides[:, 1]
    criteria = np.stack([base * sides[:, 2], sides[:, 2], base, sides.max(axis=1)])
    n = len(sides)
    best, free, score = np.arange(n, dtype=np.int32), np.zeros(n, np.int64), np.inf
    done, step = 0, max(4, CHUNK_PLACED // n)
    while done < TRIES and (done == 0 or not budget.exhausted()):
        last = min(done + step, max(TRIES, 4))
        score = search(done, last, criteria, NOISE, items, arrays, free, best, score, rng)
        budget.charge(last - done)
        done = last
    state.sequence = best
    return state
