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

TRIES = 300  # tunable: int 4..20000
NOISE = 0.5  # tunable: float 0.0..1.0
CHUNK_BOXES = 6_000  # boxes offered by one kernel call, about


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
def find_turned(box, keys, room, counts, b, turned, low, high, seen_age, seen_key):
    """First point of bin b that is feasible for one of the rows low..high - 1 of `turned`, in that order.

    `turned`: int32 `(rows, 3)`, sides along x, y, z; at most 8 rows of them are an item's. Returns 8 *
    point +
    row - low, or -1. Points of age up to `seen_age` whose key lies below `seen_key` are known to be of no
    use.
    """
    for k in range(counts[b, 1]):
        key = keys[b, k]
        if (key < seen_key) & (room[b, k, 3] <= seen_age):
            continue
        for r in range(low, high):
            dx, dy, dz = turned[r, 0], turned[r, 1], turned[r, 2]
            if (dx > room[b, k, 0]) | (dy > room[b, k, 1]) | (dz > room[b, k, 2]):
                continue
            px, py = np.int32(key & 2097151), np.int32((key >> 21) & 2097151)
            pz = np.int32(key >> 42)
            qx, qy, qz = np.int32(px + dx), np.int32(py + dy), np.int32(pz + dz)
            if not overlaps(box, b, counts[b, 0], px, py, pz, qx, qy, qz):
                return 8 * k + r - low
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
def load(sequence, needed, boxes, arrays):
    """Packed volume of a permutation by the card's rule; -1 as soon as it must stay below `needed`."""
    kind, turned, first, volumes, size, least = boxes
    box, keys, room, counts, age, upto = arrays
    open_bin(keys, room, counts, 0, size)
    age[:] = -1
    upto[:] = -1
    possible = volumes.sum()
    packed = np.int64(0)
    for item in sequence:
        t = kind[item]
        low = first[t]
        found = find_turned(box, keys, room, counts, 0, turned, low, first[t + 1], age[t], upto[t])
        age[t] = counts[0, 0]
        if found < 0:
            upto[t] = np.int64(2**62)
            possible -= volumes[item]
            if possible < needed:
                return np.int64(-1)
            continue
        k, r = found // 8, low + found % 8
        upto[t] = keys[0, k]
        place(box, keys, room, counts, 0, k, turned[r, 0], turned[r, 1], turned[r, 2], size, least)
        packed += volumes[item]
    return packed


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


def prepare(env_data):
    """Data of the boxes and the work arrays of the placement.

    Boxes: type of each item, sides by type and orientation, first row of each type, volumes,
    container, smallest sides. Arrays: boxes (x0, x1, y0, y1, z0, z1), sorted keys of the candidate
    points, free lengths at them, counts of boxes and points with the largest free lengths, and per
    type what is known to refuse it.
    """
    sides = np.asarray(env_data["item_sizes"])
    allowed = np.asarray(env_data["orientation_allowed"])
    columns = np.array([(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
    kinds, rows, first = {}, [], [0]
    kind = np.empty(len(sides), np.int32)
    for item in range(len(sides)):
        key = (*sides[item].tolist(), *allowed[item].tolist())
        if key not in kinds:
            kinds[key] = len(kinds)
            turned = sides[item][columns[allowed[item] != 0]].tolist()
            rows += list(dict.fromkeys(tuple(row) for row in turned))
            first.append(len(rows))
        kind[item] = kinds[key]
    table = np.array(rows, dtype=np.int32).reshape(len(rows), 3)
    volumes = sides.astype(np.int64).prod(axis=1)
    size = np.array(env_data["bin_size"], dtype=np.int32)
    n = len(sides)
    arrays = (
        np.zeros((1, n, 6), np.int32),
        np.zeros((1, 2 * n + 1), np.int64),
        np.zeros((1, 2 * n + 1, 4), np.int32),
        np.zeros((1, 5), np.int32),
        np.zeros(len(kinds), np.int64),
        np.zeros(len(kinds), np.int64),
    )
    boxes = kind, table, np.array(first, dtype=np.int32), volumes, size, table.min(axis=0)
    return boxes, arrays


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
