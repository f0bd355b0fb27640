"""Loading of a sequence of boxes into the container by the rule of the card."""

import numpy as np
from numba import njit
from parts.packing.placement import open_bin, overlaps, place


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
