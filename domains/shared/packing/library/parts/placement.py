"""Extreme-Point First-Fit placement of boxes, the whole cost of the packing decoders.

The decoders import this module itself, as plain Python; so it takes from no other part. Whole packings are
single functions here: a function per item, called from their loops, costs a decoder much of its speed,
because numba counts references to each array of each call.

A bin is a list of placed boxes and a sorted list of candidate points: the origin and, for every placed
box, the corners (x + dx, y, z), (x, y + dy, z) and (x, y, z + dz). Points are kept in the order z, y, x
from one placement to the next; a point that a box covers can never be used again and leaves the list.
Every point knows how far the three axes through it are free, which refutes most attempts without a look
at the boxes. Coordinates must be below 2²¹.

References
----------
T. G. Crainic, G. Perboli, R. Tadei, Extreme point-based heuristics for three-dimensional bin packing, INFORMS
Journal on Computing 20(3), 2008 (candidate points, residual space); the rule itself is the card's.
"""

import numpy as np
from numba import njit


def bin_arrays(n_bins, capacity):
    """Work arrays for `n_bins` bins of at most `capacity` boxes each; the first index is the bin.

    box: int32 (bins, capacity, 6), columns x0, x1, y0, y1, z0, z1 of the placed boxes;
    keys: int64 (bins, 2 * capacity + 1), points as ``z << 42 | y << 21 | x``, sorted;
    room: int32 (bins, 2 * capacity + 1, 4), free lengths along x, y, z from each point and its age;
    counts: int32 (bins, 5), numbers of boxes and of points, largest free lengths of any point along x, y, z.
    """
    points = 2 * capacity + 1
    return (
        np.zeros((n_bins, capacity, 6), np.int32),
        np.zeros((n_bins, points), np.int64),
        np.zeros((n_bins, points, 4), np.int32),
        np.zeros((n_bins, 5), np.int32),
    )


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
def find_turned(box, keys, room, counts, b, turned, low, high, seen_age, seen_key):
    """First point of bin b that is feasible for one of the rows low..high - 1 of `turned`, in that order.

    `turned`: int32 `(rows, 3)`, sides along x, y, z; at most 8 rows of them are an item's. Returns
    8 * point + row - low, or -1. Points of age up to `seen_age` whose key lies below `seen_key` are known to
    be of no use.
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
    """Put a box of dx × dy × dz at point k of bin b; update the points.

    `least`: smallest sides of all items.
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
def fill_bins(sequence, items, arrays, free, bin_of):
    """Put every item into the first bin that has a feasible point for it; the number of bins.

    `items`: sides, volumes, bin, smallest sides; `free` and `bin_of` receive the empty volume of each bin and
    the bin of each item.
    """
    sizes, volumes, size, least = items
    box, keys, room, counts = arrays
    capacity = np.int64(size[0]) * size[1] * size[2]
    n_bins = 0
    for item in sequence:
        dx, dy, dz = sizes[item, 0], sizes[item, 1], sizes[item, 2]
        b, found = 0, -1
        while b < n_bins:
            reach = (dx <= counts[b, 2]) & (dy <= counts[b, 3]) & (dz <= counts[b, 4])
            if reach & (free[b] >= volumes[item]):
                found = find_point(box, keys, room, counts, b, dx, dy, dz)
                if found >= 0:
                    break
            b += 1
        if found < 0:
            open_bin(keys, room, counts, b, size)
            free[b] = capacity
            n_bins += 1
            found = 0
        place(box, keys, room, counts, b, found, dx, dy, dz, size, least)
        free[b] -= volumes[item]
        bin_of[item] = b
    return n_bins


@njit(cache=True)
def load_stretch(sequence, start, stop, needed, packed, possible, boxes, arrays):
    """Load the boxes at places `start` .. `stop` - 1, each where it first fits, in its first orientation.

    `packed` is the volume packed before, `possible` the whole one without what was left out; returns both. As
    soon as `possible` is below `needed`, loading ends and `packed` is -1. Rows first[t] to first[t + 1] - 1
    of `turned` are the sides of type t in its permitted orientations. A type remembers which points have
    refused it: `age` and `upto`.
    """
    kind, turned, first, volumes, size, least = boxes
    box, keys, room, counts, age, upto, is_out = arrays
    for i in range(start, stop):
        item = sequence[i]
        t = kind[item]
        low = first[t]
        found = find_turned(box, keys, room, counts, 0, turned, low, first[t + 1], age[t], upto[t])
        age[t] = counts[0, 0]
        is_out[item] = found < 0
        if found < 0:
            upto[t] = np.int64(2**62)
            possible -= volumes[item]
            if possible < needed:
                return np.int64(-1), possible
            continue
        k, r = found // 8, low + found % 8
        upto[t] = keys[0, k]
        place(box, keys, room, counts, 0, k, turned[r, 0], turned[r, 1], turned[r, 2], size, least)
        packed += volumes[item]
    return packed, possible


@njit(cache=True)
def open_container(keys, room, counts, age, upto, size):
    """Empty the container; no point has refused a type yet."""
    open_bin(keys, room, counts, 0, size)
    age[:] = -1
    upto[:] = -1


@njit(cache=True)
def load(sequence, needed, boxes, arrays):
    """Packed volume of a permutation by the card's rule; -1 as soon as it must stay below `needed`."""
    _box, keys, room, counts, age, upto, _is_out = arrays
    open_container(keys, room, counts, age, upto, boxes[4])
    start, possible = np.int64(0), boxes[3].sum()
    return load_stretch(sequence, 0, sequence.size, needed, start, possible, boxes, arrays)[0]
