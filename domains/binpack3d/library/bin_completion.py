"""Construction bin by bin: each bin is filled as well as possible before the next one is opened.

Method: the largest item left opens a bin. TRIALS orders of the other items, sorted by blurred volume, are
packed into it; the order that fills the bin best is kept. The sequence is that of the bins.

Source: G. Perboli, T. G. Crainic, R. Tadei, An efficient metaheuristic for multi-dimensional
multi-container packing, 2011; A. Lodi, S. Martello, D. Vigo, Heuristic algorithms for the
three-dimensional bin packing problem, 2002.

Complexity: TRIALS single-bin packings of all items left per bin.
"""

import numpy as np
from numba import njit
from parts.first_fit import prepare
from parts.packing.placement import find_point, open_bin, place
from parts.repacking import sort_by

TRIALS = 60  # tunable: int 1..2000
NOISE = 0.8  # tunable: float 0.0..1.0


# exchangeable: filling-key
@njit(cache=True)
def filling_key(volume, height, noise, rng):
    """Sorting key of an item (smaller: earlier) from its shares of the bin's volume and height."""
    return -volume * (1.0 - noise * rng.random())


@njit(cache=True)
def fill_one(order, count, items, arrays, packed):
    """Pack what fits of the first `count` items of `order` into bin 0; `packed` marks it; the volume
    packed.
    """
    sizes, volumes, size, least = items
    box, keys, room, counts = arrays
    left = np.int64(size[0]) * size[1] * size[2]
    total = left
    open_bin(keys, room, counts, 0, size)
    for i in range(count):
        item = order[i]
        dx, dy, dz = sizes[item, 0], sizes[item, 1], sizes[item, 2]
        packed[i] = False
        if left >= volumes[item]:
            found = find_point(box, keys, room, counts, 0, dx, dy, dz)
            if found >= 0:
                place(box, keys, room, counts, 0, found, dx, dy, dz, size, least)
                left -= volumes[item]
                packed[i] = True
    return total - left


@njit(cache=True)
def fill_bin(trials, noise, rest, n_rest, items, arrays, sequence, done, rng):
    """Fill one bin with the best of `trials` orders; updates `rest` and `sequence`; the number of items
    left.
    """
    sizes, volumes, size, _least = items
    capacity = np.float64(size[0]) * size[1] * size[2]
    order, chosen = np.empty(n_rest, np.int32), np.empty(n_rest, np.int32)
    keys, packed = np.empty(n_rest, np.float64), np.empty(n_rest, np.bool_)
    kept = np.zeros(n_rest, np.bool_)
    most = np.int64(-1)
    for trial in range(trials):
        for i in range(n_rest):
            item = rest[i]
            order[i] = item
            blur = noise if trial > 0 else 0.0
            keys[i] = filling_key(volumes[item] / capacity, sizes[item, 2] / size[2], blur, rng)
            if i == 0:
                keys[i] = -2.0
        sort_by(keys, order, n_rest)
        volume = fill_one(order, n_rest, items, arrays, packed)
        if volume > most:
            most = volume
            chosen[:] = order
            kept[:] = packed
    left = 0
    for i in range(n_rest):
        if kept[i]:
            sequence[done] = chosen[i]
            done += 1
        else:
            rest[left] = chosen[i]
            left += 1
    largest = 0
    for i in range(left):
        if volumes[rest[i]] > volumes[rest[largest]]:
            largest = i
    if left > 0:
        rest[0], rest[largest] = rest[largest], rest[0]
    return left


def run(env_data, state, calc_makespan_fn):
    """Fill bins until nothing is left; when the share is spent, one order per bin is enough."""
    budget, rng = env_data["budget"], env_data["rng"]
    items, arrays = prepare(env_data)
    n = len(items[0])
    rest = np.argsort(-items[1], kind="stable").astype(np.int32)
    sequence, left, is_late = np.empty(n, np.int32), n, False
    while left:
        trials = 1 if is_late else max(1, min(TRIALS, 100_000 // left))
        before, left = left, fill_bin(trials, NOISE, rest, left, items, arrays, sequence, n - left, rng)
        budget.charge(max(1, trials * before // n))
        is_late = is_late or budget.exhausted()
    state.sequence = sequence
    return state
