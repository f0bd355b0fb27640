"""Reordering of whole bins: the sequence is written bin by bin, and bins change places.

Method: every bin in turn, fuller ones first, is put last with the others in the order of falling volume;
then random swaps of two bins are tried until PATIENCE of them in a row bring nothing. Since first fit
looks at earlier bins first, an item may slip into a gap of a bin that now stands before its own, which
can empty a bin; and the fullest bin should end the sequence.

Source: A. Lodi, S. Martello, D. Vigo, Heuristic algorithms for the three-dimensional bin packing problem,
2002; E. Falkenauer, A hybrid grouping genetic algorithm for bin packing, 1996 (bins as building blocks).

Complexity: one decoding per order.
"""

import numpy as np
from numba import njit

PATIENCE = 300  # tunable: int 10..10000
CHUNK_PLACED = 15_000  # items placed by one kernel call, about


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


# exchangeable: bin-move
@njit(cache=True)
def exchanged(order, rng):
    """Exchange two random entries of `order` in place; returns their places."""
    a, b = int(rng.random() * order.size), int(rng.random() * order.size)
    order[a], order[b] = order[b], order[a]
    return a, b


@njit(cache=True)
def put_last(step, items, arrays, free, member, n_member, trial, best, score):
    """Decode with bin number `step` by falling volume at the end and the others in that order; lowest
    score.
    """
    n_bins = read_bins(best, items, arrays, free, member, n_member)
    order = np.argsort(free[:n_bins])
    last = order[step]
    order[step : n_bins - 1] = order[step + 1 :].copy()
    order[n_bins - 1] = last
    write_bins(member, n_member, order, trial)
    value = first_fit(trial, items, arrays, free)
    if value < score:
        score = value
        best[:] = trial
    return score


@njit(cache=True)
def search(rounds, status, items, arrays, free, member, n_member, trial, best, rng):
    """Try `rounds` exchanges of bins; status: score, exchanges since it fell."""
    n_bins = read_bins(best, items, arrays, free, member, n_member)
    order = np.arange(n_bins)
    for _ in range(rounds):
        a, b = exchanged(order, rng)
        write_bins(member, n_member, order, trial)
        value = first_fit(trial, items, arrays, free)
        status[1] += 1.0
        if value < status[0]:
            status[0], status[1] = value, 0.0
            best[:] = trial
            n_bins = read_bins(best, items, arrays, free, member, n_member)
            order = np.arange(n_bins)
        elif value > status[0]:
            order[a], order[b] = order[b], order[a]


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
    """Reorder the bins of `state` until nothing improves or the share is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    items, arrays = prepare(env_data)
    best = np.array(state.sequence, dtype=np.int32)
    trial, n, free = best.copy(), best.size, np.zeros(best.size, np.int64)
    member, n_member = np.zeros((n, arrays[0].shape[1]), np.int32), np.zeros(n, np.int32)
    score = first_fit(best, items, arrays, free)
    step = 0
    while step < read_bins(best, items, arrays, free, member, n_member) and not budget.exhausted():
        score = put_last(step, items, arrays, free, member, n_member, trial, best, score)
        budget.charge(2)
        step += 1
    status = np.array([score, 0.0])
    rounds = max(1, CHUNK_PLACED // n)
    while status[1] < PATIENCE and not budget.exhausted():
        search(rounds, status, items, arrays, free, member, n_member, trial, best, rng)
        budget.charge(rounds)
    state.sequence = best
    return state
