"""Tabu search on runs of boxes, with partial decoding.

Method: of SAMPLE neighbours, each a stretch of the sequence moved or exchanged, the one that packs
most becomes the present sequence even if it is worse, unless the type of its first changed box was
moved there during the last TENURE moves or so and it is no new best. After PATIENCE moves without
a new best the search starts again from the best one.

Source: A. Bortfeldt, H. Gehring, D. Mack, A parallel tabu search algorithm for solving the
container loading problem, 2003.

Complexity: SAMPLE partial loadings per move.
"""

import numpy as np
from numba import njit

SAMPLE = 10  # tunable: int 2..200
TENURE = 6  # tunable: int 1..100
PATIENCE = 200  # tunable: int 10..10000
LONGEST = 6  # tunable: int 1..60
STEP = 6  # tunable: int 1..60
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
def resume(sequence, start, needed, step, boxes, arrays, saved, marks):
    """Packed volume of `sequence`, which equals the accepted one before place `start`; -1 if below
    `needed`.

    Loading begins at the last point saved before `start`; every `step` places the state is saved
    on the side that the accepted loading does not use, see :func:`accept`.
    """
    kind, turned, first, volumes, size, least = boxes
    box, keys, room, counts, age, upto = arrays
    old_box, old_keys, old_room, old_counts, old_types, old_volumes = saved
    n = sequence.size
    s = start // step
    side = marks[s]
    count = old_counts[side, s, 0]
    points = old_counts[side, s, 1]
    for i in range(5):
        counts[0, i] = old_counts[side, s, i]
    box[0, :count] = old_box[:count]
    keys[0, :points] = old_keys[side, s, :points]
    room[0, :points] = old_room[side, s, :points]
    age[:] = old_types[side, s, 0]
    upto[:] = old_types[side, s, 1]
    packed, possible = old_volumes[side, s, 0], old_volumes[side, s, 1]
    for i in range(s * step, n):
        if i % step == 0 and i > s * step:
            side = 1 - marks[i // step]
            points = counts[0, 1]
            for c in range(5):
                old_counts[side, i // step, c] = counts[0, c]
            old_keys[side, i // step, :points] = keys[0, :points]
            old_room[side, i // step, :points] = room[0, :points]
            old_types[side, i // step, 0] = age
            old_types[side, i // step, 1] = upto
            old_volumes[side, i // step, 0], old_volumes[side, i // step, 1] = packed, possible
        item = sequence[i]
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
def accept(start, step, arrays, saved, marks):
    """Make the loading that :func:`resume` has just finished the accepted one."""
    count = arrays[3][0, 0]
    saved[0][:count] = arrays[0][0, :count]
    for s in range(start // step + 1, marks.size):
        marks[s] = 1 - marks[s]


@njit(cache=True)
def begin(sequence, step, boxes, arrays, saved, marks):
    """Load `sequence` from the start and accept it; its packed volume."""
    _box, keys, room, counts, _age, _upto = arrays
    open_bin(keys, room, counts, 0, boxes[4])
    for c in range(5):
        saved[3][0, 0, c] = counts[0, c]
    marks[:] = 0
    saved[1][0, 0, 0] = keys[0, 0]
    saved[2][0, 0, 0] = room[0, 0]
    saved[4][0, 0] = -1
    saved[5][0, 0, 0], saved[5][0, 0, 1] = 0, boxes[3].sum()
    packed = resume(sequence, 0, np.int64(0), step, boxes, arrays, saved, marks)
    accept(0, step, arrays, saved, marks)
    return packed


def storage(boxes, step):
    """Arrays for saved states, two sides of each, and which side is in use."""
    n, kinds = boxes[0].size, boxes[2].size - 1
    slots, points = (n + step - 1) // step, 2 * n + 1
    saved = (
        np.zeros((n, 6), np.int32),
        np.zeros((2, slots, points), np.int64),
        np.zeros((2, slots, points, 4), np.int32),
        np.zeros((2, slots, 5), np.int32),
        np.zeros((2, slots, 2, kinds), np.int64),
        np.zeros((2, slots, 2), np.int64),
    )
    return saved, np.zeros(slots, np.int64)


# exchangeable: run-move
@njit(cache=True)
def change(current, trial, kind, longest, rng):
    """Write a neighbour of `current` into `trial`; returns the first place at which they differ in type.

    A stretch of items, mostly a run of one type or a part of it, goes to another place or changes places with
    another; the number of items is returned when nothing differs.
    """
    n = current.size
    trial[:] = current
    a = int(rng.random() * n)
    length = 1
    if rng.random() < 0.7:
        while a > 0 and kind[current[a - 1]] == kind[current[a]]:
            a -= 1
        while a + length < n and kind[current[a + length]] == kind[current[a]]:
            length += 1
        if length > 1 and rng.random() < 0.5:
            part = 1 + int(rng.random() * length)
            a += int(rng.random() * (length - part + 1))
            length = part
    else:
        length = min(1 + int(rng.random() * longest), n - a)
    if rng.random() < 0.6:
        b = int(rng.random() * (n - length + 1))
        if b < a:
            for i in range(a - b):
                trial[a + length - 1 - i] = current[a - 1 - i]
        else:
            for i in range(b - a):
                trial[a + i] = current[a + length + i]
        trial[b : b + length] = current[a : a + length]
    else:
        b = int(rng.random() * (n - length + 1))
        if b < a + length and a < b + length:
            b = a
        for i in range(length):
            trial[a + i], trial[b + i] = current[b + i], current[a + i]
    first = min(a, b)
    while first < n and kind[trial[first]] == kind[current[first]]:
        first += 1
    return first


# exchangeable: tabu-tenure
@njit(cache=True)
def tenure_of(base, n, rng):
    """For how many moves a type that has moved stays where it is."""
    return base + int(rng.random() * base)


@njit(cache=True)
def search(moves, settings, status, boxes, arrays, saved, marks, until, current, trial, chosen, best, rng):
    """Make `moves` moves; status: volume of `best`, moves made, moves since the best."""
    sample, tenure, patience, longest, step = settings
    kind, n = boxes[0], current.size
    for _ in range(moves):
        most, first = np.int64(-1), n
        for _trial in range(sample):
            start = change(current, trial, kind, longest, rng)
            if start == n:
                continue
            is_tabu = until[kind[trial[start]]] > status[1]
            needed = max(most, status[0] if is_tabu else np.int64(0)) + 1
            packed = resume(trial, start, needed, step, boxes, arrays, saved, marks)
            if packed >= needed:
                most, first = packed, start
                chosen[:] = trial
        status[1] += 1
        status[2] += 1
        if first < n:
            resume(chosen, first, np.int64(0), step, boxes, arrays, saved, marks)
            accept(first, step, arrays, saved, marks)
            until[kind[current[first]]] = status[1] + tenure_of(tenure, n, rng)
            current[:] = chosen
        if most > status[0]:
            status[0], status[2] = most, 0
            best[:] = current
        elif status[2] >= patience:
            status[2] = 0
            current[:] = best
            begin(current, step, boxes, arrays, saved, marks)


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
    """Search from `state` until the share is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    boxes, arrays = prepare(env_data)
    saved, marks = storage(boxes, STEP)
    best = np.array(state.sequence, dtype=np.int32)
    current, trial, chosen = best.copy(), best.copy(), best.copy()
    status = np.array([begin(current, STEP, boxes, arrays, saved, marks), 0, 0], np.int64)
    until = np.zeros(boxes[2].size - 1, np.int64)
    moves = max(1, CHUNK_BOXES // (best.size * SAMPLE))
    settings = SAMPLE, TENURE, PATIENCE, LONGEST, STEP
    while not budget.exhausted():
        search(moves, settings, status, boxes, arrays, saved, marks, until, current, trial, chosen, best, rng)
        budget.charge(moves * SAMPLE)
    state.sequence = best
    return state
