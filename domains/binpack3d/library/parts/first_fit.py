"""First fit: every item goes into the first bin that has a feasible point for it."""

import numpy as np
from numba import njit
from parts.packing.placement import open_bin, overlaps, place


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
def first_fit(sequence, items, arrays, free):
    """Score of a permutation by the card's rule; `free` receives the empty volume of each bin."""
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
    return n_bins + 0.1 * (free[n_bins - 1] / capacity)


@njit(cache=True)
def read_bins(sequence, items, arrays, free, member, n_member):
    """The contents of the bins of a permutation, in the order of their placement; the number of bins."""
    sizes, volumes, size, least = items
    box, keys, room, counts = arrays
    capacity = np.int64(size[0]) * size[1] * size[2]
    n_bins = 0
    for item in sequence:
        dx, dy, dz = sizes[item, 0], sizes[item, 1], sizes[item, 2]
        b, found = 0, -1
        while b < n_bins:
            if free[b] >= volumes[item]:
                found = find_point(box, keys, room, counts, b, dx, dy, dz)
                if found >= 0:
                    break
            b += 1
        if found < 0:
            open_bin(keys, room, counts, b, size)
            free[b] = capacity
            n_member[b] = 0
            n_bins += 1
            found = 0
        place(box, keys, room, counts, b, found, dx, dy, dz, size, least)
        free[b] -= volumes[item]
        member[b, n_member[b]] = item
        n_member[b] += 1
    return n_bins


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
