"""Loadings of sequences that begin like the accepted one, resumed where they first differ.

:func:`storage` explains the saved states.
"""

import numpy as np
from numba import njit
from parts.loading import prepare
from parts.packing.placement import load_stretch, open_container


@njit(cache=True)
def resume(sequence, start, needed, step, boxes, arrays, saved, marks):
    """Packed volume of `sequence`, which equals the accepted one before place `start`; -1 if below
    `needed`.

    Loading begins at the last point saved before `start`; every `step` places the state is saved
    on the side that the accepted loading does not use, see :func:`accept`.
    """
    box, keys, room, counts, age, upto, _is_out = arrays
    old_box, old_keys, old_room, old_counts, old_types, old_volumes = saved
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
    for i in range(s * step, sequence.size, step):
        if i > s * step:
            side = 1 - marks[i // step]
            points = counts[0, 1]
            for c in range(5):
                old_counts[side, i // step, c] = counts[0, c]
            old_keys[side, i // step, :points] = keys[0, :points]
            old_room[side, i // step, :points] = room[0, :points]
            old_types[side, i // step, 0] = age
            old_types[side, i // step, 1] = upto
            old_volumes[side, i // step, 0], old_volumes[side, i // step, 1] = packed, possible
        stop = min(i + step, sequence.size)
        packed, possible = load_stretch(sequence, i, stop, needed, packed, possible, boxes, arrays)
        if packed < 0:
            break
    return packed


@njit(cache=True)
def accept(start, step, arrays, saved, marks):
    """Make the loading that :func:`resume` has just finished the accepted one."""
    count = arrays[3][0, 0]
    saved[0][:count] = arrays[0][0, :count]
    for s in range(start // step + 1, marks.size):
        marks[s] = 1 - marks[s]


@njit(cache=True)
def take(trial, packed, start, step, status, arrays, saved, marks, current, best):
    """Go on from `trial`, which :func:`resume` has just loaded from `start` on; keep it if it is the best.

    `status` holds the volumes of `current` and of `best`.
    """
    accept(start, step, arrays, saved, marks)
    status[0] = packed
    current[:] = trial
    if packed > status[1]:
        status[1] = packed
        best[:] = trial


@njit(cache=True)
def begin(sequence, step, boxes, arrays, saved, marks):
    """Load `sequence` from the start and accept it; its packed volume."""
    _box, keys, room, counts, age, upto, _is_out = arrays
    open_container(keys, room, counts, age, upto, boxes[4])
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


def opened(env_data, state, step):
    """Boxes, arrays and saved states after loading the sequence of `state`; three copies of the sequence for
    the best, the accepted and the tried one; the volumes that the accepted and the best one pack.
    """
    boxes, arrays = prepare(env_data)
    saved, marks = storage(boxes, step)
    best = np.array(state.sequence, dtype=np.int32)
    current, trial = best.copy(), best.copy()
    packed = begin(current, step, boxes, arrays, saved, marks)
    return boxes, arrays, saved, marks, best, current, trial, np.array([packed, packed], np.int64)
