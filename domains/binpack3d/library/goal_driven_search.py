"""Goal-driven ruin and recreate: one bin less is asked for, and the items without a place are fought down.

Method: the emptiest bin is dissolved; its items form a pool. Again and again up to BINS_OUT random bins
are emptied together with the pool and filled anew by first fit, in the order of a noisy key: what finds
no place is the new pool. It is accepted when the weighted volume of the pool is not larger than before or
than it was HISTORY steps ago (late acceptance). Items that stay in the pool for long gain weight. An
empty pool is a packing with one bin less, and the next bin is dissolved, until the lower bound is reached
or the share is spent.

Source: S. Gardeyn, T. Wauters, A goal-driven ruin and recreate heuristic for the 2D variable-sized bin
packing problem with guillotine constraints, 2022; E. K. Burke, Y. Bykov, The late acceptance
hill-climbing heuristic, 2017; O. Faroe, D. Pisinger, M. Zachariasen, Guided local search for the
three-dimensional bin-packing problem, 2003 (penalties).

Complexity: O(b p) per step for b boxes and p candidate points in the bins that are emptied.
"""

import numpy as np
from numba import njit

BINS_OUT = 3  # tunable: int 1..6
HISTORY = 500  # tunable: int 1..20000
NOISE = 0.4  # tunable: float 0.0..2.0
KEEP_ORDER = 0.4  # tunable: float 0.0..1.0
WEIGHT_STEP = 0.1  # tunable: float 0.0..1.0
PATIENCE = 300  # tunable: int 10..10000
CHUNK_ITEMS = 30_000  # items placed by one kernel call, about


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


@njit(cache=True)
def write_bins(member, n_member, order, sequence):
    """Write the bins' items one bin after the other, bins in the given order, into `sequence`."""
    count = 0
    for b in order:
        for i in range(n_member[b]):
            sequence[count] = member[b, i]
            count += 1


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


# exchangeable: lower-bound
@njit(cache=True)
def bin_bound(sizes, size):
    """A lower bound on the number of bins: total volume, and items that can only be stacked along one
    axis.
    """
    total = 0
    for item in range(sizes.shape[0]):
        total += np.int64(sizes[item, 0]) * sizes[item, 1] * sizes[item, 2]
    capacity = np.int64(size[0]) * size[1] * size[2]
    bound = (total + capacity - 1) // capacity
    for axis in range(3):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        length, long, depths = np.int64(size[axis]), 0, np.int64(0)
        for item in range(sizes.shape[0]):
            if 2 * sizes[item, first] > size[first] and 2 * sizes[item, second] > size[second]:
                depths += sizes[item, axis]
                long += 1 if 2 * sizes[item, axis] > length else 0
        bound = max(bound, long, (depths + length - 1) // length)
    return bound


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


@njit(cache=True)
def search(limit, settings, n_bins, status, items, arrays, free, packing, weight, history, work, rng):
    """Ruin and recreate until `limit` items were placed or the pool is empty; returns the items placed.

    status: energy of the pool, its lowest, steps since then, place in the history, size of the pool.
    """
    bins_out, noise, keep, step, patience = settings
    pool, member, n_member = packing
    batch, slots, chosen, keys = work
    volumes = items[1]
    placed = 0
    n_pool = int(status[4])
    while placed < limit and n_pool > 0:
        q = min(1 + int(rng.random() * bins_out), n_bins)
        for c in range(q):
            fresh = False
            while not fresh:
                chosen[c] = int(rng.random() * n_bins)
                fresh = True
                for e in range(c):
                    fresh = fresh and chosen[e] != chosen[c]
        count = gather(q, chosen, pool, n_pool, member, n_member, items, noise, keep, batch, keys, rng)
        repack(q, batch, count, items, arrays, free, slots)
        placed += count
        energy = 0.0
        for i in range(count):
            if slots[i] < 0:
                energy += weight[batch[i]] * volumes[batch[i]]
        spot = int(status[3])
        if energy <= status[0] or energy <= history[spot]:
            n_pool = 0
            for c in range(q):
                n_member[chosen[c]] = 0
            for i in range(count):
                if slots[i] < 0:
                    pool[n_pool] = batch[i]
                    n_pool += 1
                else:
                    b = chosen[slots[i]]
                    member[b, n_member[b]] = batch[i]
                    n_member[b] += 1
            status[0] = energy
        if status[0] < history[spot]:
            history[spot] = status[0]
        status[3] = (spot + 1) % history.size
        status[2] += 1.0
        if status[0] < status[1]:
            status[1], status[2] = status[0], 0.0
        elif status[2] >= patience:
            status[2] = 0.0
            for i in range(n_pool):
                grown = step * volumes[pool[i]]
                weight[pool[i]] += step
                status[0] += grown
            status[1] = status[0]
            history[:] = np.maximum(history, status[0])
    status[4] = n_pool
    return placed


@njit(cache=True)
def dissolve(n_bins, volumes, packing):
    """Turn the emptiest bin into the pool and let the last bin take its place; the pool's size and volume."""
    pool, member, n_member = packing
    least, lowest = 0, np.int64(2**62)
    for b in range(n_bins):
        filled = np.int64(0)
        for i in range(n_member[b]):
            filled += volumes[member[b, i]]
        if filled < lowest:
            least, lowest = b, filled
    n_pool = n_member[least]
    pool[:n_pool] = member[least, :n_pool]
    member[least] = member[n_bins - 1]
    n_member[least] = n_member[n_bins - 1]
    return n_pool, lowest


@njit(cache=True)
def best_concatenation(tries, n_bins, items, arrays, free, packing, trial, best, score, rng):
    """Decode the bins one after the other in `tries` orders, fullest first to begin with; the best score.

    `best` is replaced by a sequence that scores below `score`.
    """
    _pool, member, n_member = packing
    volumes = items[1]
    order, keys = np.arange(n_bins), np.empty(n_bins, np.float64)
    for attempt in range(tries):
        for b in range(n_bins):
            order[b] = b
            filled = 0.0
            for i in range(n_member[b]):
                filled += volumes[member[b, i]]
            keys[b] = -filled if attempt == 0 else rng.random()
        sort_by(keys, order, n_bins)
        write_bins(member, n_member, order, trial)
        value = first_fit(trial, items, arrays, free)
        if value < score:
            score = value
            best[:] = trial
    return score


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
    """Lower the number of bins of `state` one by one until the bound or the end of the share."""
    budget, rng = env_data["budget"], env_data["rng"]
    items, arrays = prepare(env_data)
    best = np.array(state.sequence, dtype=np.int32)
    n, most = best.size, arrays[0].shape[1]
    packing = np.zeros(n, np.int32), np.zeros((n, most), np.int32), np.zeros(n, np.int32)
    work = np.zeros(n, np.int32), np.zeros(n, np.int64), np.zeros(BINS_OUT, np.int64), np.zeros(n)
    free, trial, history = np.zeros(n, np.int64), best.copy(), np.zeros(HISTORY)
    settings = BINS_OUT, NOISE, KEEP_ORDER, WEIGHT_STEP, PATIENCE
    score = first_fit(best, items, arrays, free)
    n_bins = read_bins(best, items, arrays, free, packing[1], packing[2])
    bound = bin_bound(items[0], items[2])
    score = best_concatenation(1, n_bins, items, arrays, free, packing, trial, best, score, rng)
    while n_bins > max(bound, 1) and not budget.exhausted():
        n_pool, volume = dissolve(n_bins, items[1], packing)
        n_bins -= 1
        history[:] = volume
        weight, status = np.ones(n), np.array([volume, volume, 0.0, 0.0, n_pool], np.float64)
        while status[4] > 0 and not budget.exhausted():
            placed = search(
                CHUNK_ITEMS,
                settings,
                n_bins,
                status,
                items,
                arrays,
                free,
                packing,
                weight,
                history,
                work,
                rng,
            )
            budget.charge(max(1, placed // n))
        if status[4] == 0:
            score = best_concatenation(5, n_bins, items, arrays, free, packing, trial, best, score, rng)
    state.sequence = best
    return state
