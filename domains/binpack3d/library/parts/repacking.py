"""Repacking of chosen bins and of a pool of items, and the order of the bins in a sequence."""

import numpy as np
from numba import njit
from parts.packing.placement import find_point, open_bin, place


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


@njit(cache=True)
def write_bins(member, n_member, order, sequence):
    """Write the bins' items one bin after the other, bins in the given order, into `sequence`."""
    count = 0
    for b in order:
        for i in range(n_member[b]):
            sequence[count] = member[b, i]
            count += 1


# exchangeable: reinsertion-key
@njit(cache=True)
def reinsertion_key(rank, volume, height, noise, keep_order, rng):
    """Sorting key of an item that is packed anew (smaller: earlier); `rank` is its place in the old
    packing.
    """
    if keep_order:
        return rank + 6.0 * noise * rng.random()
    return -volume * (1.0 + noise * rng.random())


@njit(cache=True)
def gather(q, chosen, pool, n_pool, member, n_member, items, noise, keep, batch, keys, rng):
    """Collect the items of the pool and of the q chosen bins in the order in which to pack them; their
    number.
    """
    sizes, volumes, size, _least = items
    keep_order = rng.random() < keep
    capacity = np.float64(size[0]) * size[1] * size[2]
    count = 0
    for i in range(n_pool):
        batch[count] = pool[i]
        rank = 8.0 * rng.random()
        keys[count] = reinsertion_key(
            rank, volumes[pool[i]] / capacity, sizes[pool[i], 2] / size[2], noise, keep_order, rng
        )
        count += 1
    for c in range(q):
        b = chosen[c]
        for i in range(n_member[b]):
            item = member[b, i]
            batch[count] = item
            keys[count] = reinsertion_key(
                1.0 * i, volumes[item] / capacity, sizes[item, 2] / size[2], noise, keep_order, rng
            )
            count += 1
    sort_by(keys, batch, count)
    return count


@njit(cache=True)
def repack(q, batch, count, items, arrays, free, slots):
    """First fit of `count` items into q empty bins; slots receives the bin of each, -1 for the pool."""
    sizes, volumes, size, least = items
    box, keys, room, counts = arrays
    capacity = np.int64(size[0]) * size[1] * size[2]
    for b in range(q):
        open_bin(keys, room, counts, b, size)
        free[b] = capacity
    for i in range(count):
        item = batch[i]
        dx, dy, dz = sizes[item, 0], sizes[item, 1], sizes[item, 2]
        slots[i] = -1
        for b in range(q):
            reach = (dx <= counts[b, 2]) & (dy <= counts[b, 3]) & (dz <= counts[b, 4])
            if reach & (free[b] >= volumes[item]):
                found = find_point(box, keys, room, counts, b, dx, dy, dz)
                if found >= 0:
                    place(box, keys, room, counts, b, found, dx, dy, dz, size, least)
                    free[b] -= volumes[item]
                    slots[i] = b
                    break
