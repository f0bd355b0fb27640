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

TRIALS = 60  # tunable: int 1..2000
NOISE = 0.8  # tunable: float 0.0..1.0


@njit(cache=True)
def overlaps(box, b, count, px, py, pz, qx, qy, qz):
    """Whether the open block from p to q meets one of the first `count` boxes of bin b."""
    for j in range(count):
        if (
            box[b, j, 0] < qx
            and box[b, j, 1] > px
            and box[b, j, 2] < qy
            and box[b, j, 3] > py
            and box[b, j, 4] < qz
            and box[b, j, 5] > pz
        ):
            return True
    return False


@njit(cache=True)
def find_point(box, keys, room, counts, b, dx, dy, dz):
    """First point of bin b at which a box of dx × dy × dz is feasible, or -1."""
    for k in range(counts[b, 1]):
        if (dx > room[b, k, 0]) | (dy > room[b, k, 1]) | (dz > room[b, k, 2]):
            continue
        key = keys[b, k]
        px, py = np.int32(key & 2097151), np.int32((key >> 21) & 2097151)
        pz = np.int32(key >> 42)
        qx, qy, qz = np.int32(px + dx), np.int32(py + dy), np.int32(pz + dz)
        if not overlaps(box, b, counts[b, 0], px, py, pz, qx, qy, qz):
            return k
    return -1


@njit(cache=True)
def add_point(box, keys, room, counts, b, px, py, pz, size, least):
    """Insert a candidate point unless it is covered, known already or too close to a wall for any item."""
    ex, ey, ez = size[0] - px, size[1] - py, size[2] - pz
    for j in range(counts[b, 0]):
        x0, x1 = box[b, j, 0], box[b, j, 1]
        y0, y1 = box[b, j, 2], box[b, j, 3]
        z0, z1 = box[b, j, 4], box[b, j, 5]
        if x1 <= px or y1 <= py or z1 <= pz:
            continue
        if y0 <= py and z0 <= pz:
            ex = min(ex, x0 - px)
        if x0 <= px and z0 <= pz:
            ey = min(ey, y0 - py)
        if x0 <= px and y0 <= py:
            ez = min(ez, z0 - pz)
    if ex < least[0] or ey < least[1] or ez < least[2]:
        return
    key = (np.int64(pz) << 42) | (np.int64(py) << 21) | np.int64(px)
    count = counts[b, 1]
    k = count
    while k > 0 and keys[b, k - 1] > key:
        k -= 1
    if k > 0 and keys[b, k - 1] == key:
        return
    for i in range(count, k, -1):
        keys[b, i] = keys[b, i - 1]
        room[b, i, 0] = room[b, i - 1, 0]
        room[b, i, 1] = room[b, i - 1, 1]
        room[b, i, 2] = room[b, i - 1, 2]
        room[b, i, 3] = room[b, i - 1, 3]
    keys[b, k] = key
    room[b, k, 0], room[b, k, 1], room[b, k, 2] = ex, ey, ez
    room[b, k, 3] = counts[b, 0]
    counts[b, 1] = count + 1


@njit(cache=True)
def place(box, keys, room, counts, b, k, dx, dy, dz, size, least):
    """Put a box of dx × dy × dz at point k of bin b; update the points. `least`: smallest sides of all
    items.
    """
    key = keys[b, k]
    x0, y0, z0 = np.int32(key & 2097151), np.int32((key >> 21) & 2097151), np.int32(key >> 42)
    x1, y1, z1 = np.int32(x0 + dx), np.int32(y0 + dy), np.int32(z0 + dz)
    j = counts[b, 0]
    box[b, j, 0], box[b, j, 1] = x0, x1
    box[b, j, 2], box[b, j, 3] = y0, y1
    box[b, j, 4], box[b, j, 5] = z0, z1
    counts[b, 0] = j + 1
    kept = 0
    for i in range(counts[b, 1]):
        key = keys[b, i]
        px, py = np.int32(key & 2097151), np.int32((key >> 21) & 2097151)
        pz = np.int32(key >> 42)
        ex, ey, ez = room[b, i, 0], room[b, i, 1], room[b, i, 2]
        if px < x1 and py < y1 and pz < z1:
            beside_x, beside_y, beside_z = px >= x0, py >= y0, pz >= z0
            if beside_y and beside_z:
                ex = min(ex, x0 - px)
            if beside_x and beside_z:
                ey = min(ey, y0 - py)
            if beside_x and beside_y:
                ez = min(ez, z0 - pz)
            if ex < least[0] or ey < least[1] or ez < least[2]:
                continue
        keys[b, kept] = key
        room[b, kept, 0], room[b, kept, 1], room[b, kept, 2] = ex, ey, ez
        room[b, kept, 3] = room[b, i, 3]
        kept += 1
    counts[b, 1] = kept
    add_point(box, keys, room, counts, b, x1, y0, z0, size, least)
    add_point(box, keys, room, counts, b, x0, y1, z0, size, least)
    add_point(box, keys, room, counts, b, x0, y0, z1, size, least)
    ex = ey = ez = np.int32(0)
    for i in range(counts[b, 1]):
        ex, ey, ez = max(ex, room[b, i, 0]), max(ey, room[b, i, 1]), max(ez, room[b, i, 2])
    counts[b, 2], counts[b, 3], counts[b, 4] = ex, ey, ez


@njit(cache=True)
def open_bin(keys, room, counts, b, size):
    """Empty bin b: no boxes, one point, the origin."""
    counts[b, 0] = 0
    counts[b, 1] = 1
    keys[b, 0] = 0
    room[b, 0, 0], room[b, 0, 1], room[b, 0, 2], room[b, 0, 3] = size[0], size[1], size[2], 0
    counts[b, 2], counts[b, 3], counts[b, 4] = size[0], size[1], size[2]


@njit(cache=True)
def sort_by(keys, values, count):
    """Sort the first `count` values by rising keys, in place (insertion sort)."""
    for i in range(1, count):
        key, value = keys[i], values[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j], values[j] = keys[j - 1], values[j - 1]
            j -= 1
        keys[j], values[j] = key, value


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


def prepare(env_data):
    """Data of the items (sides, volumes, bin, smallest sides) and the work arrays of the placement.

    Arrays by bin: boxes (x0, x1, y0, y1, z0, z1), sorted keys of the candidate points, free lengths at them,
    counts of boxes and points with the largest free lengths.
    """
    sizes = np.array(env_data["item_sizes"], dtype=np.int32)
    volumes = sizes.astype(np.int64).prod(axis=1)
    size = np.array(env_data["bin_size"], dtype=np.int32)
    n = len(sizes)
    capacity = int(size.astype(np.int64).prod())
    most = int(np.searchsorted(np.cumsum(np.sort(volumes)), capacity, side="right"))
    arrays = (
        np.zeros((n, most, 6), np.int32),
        np.zeros((n, 2 * most + 1), np.int64),
        np.zeros((n, 2 * most + 1, 4), np.int32),
        np.zeros((n, 5), np.int32),
    )
    return (sizes, volumes, size, sizes.min(axis=0)), arrays


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
