"""Checks of the integer encodings that candidates hand in, for decoders and verifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_INT32 = np.dtype(np.int32)


def int32_array(array: Any, shape: tuple[int, ...], upper: int) -> NDArray[np.int32] | None:
    """Return what a compiled decoder takes for `array`, or ``None`` unless it is an integer array of `shape`.

    A contiguous, writable int32 array is returned as it is, whatever its entries: nothing is allocated. Of
    others there is a copy, see :func:`as_int32`.
    """
    if type(array) is not np.ndarray or array.shape != shape:
        return None
    flags = array.flags
    if array.dtype == _INT32 and flags.c_contiguous and flags.writeable:
        return array
    return as_int32(array, upper)


def as_int32(sequence: NDArray[Any], upper: int) -> NDArray[np.int32] | None:
    """Return a contiguous, writable int32 copy of an integer array with entries in 0..upper − 1, or ``None``.

    Decoders pass int32 arrays of the usual layout straight to their kernel; this serves the others, so that
    one compiled signature is enough.
    """
    if sequence.dtype.kind not in "iu" or sequence.size == 0:
        return None
    if sequence.min() < 0 or sequence.max() >= upper:
        return None
    return np.array(sequence, dtype=np.int32)


def array_violation(sequence: Any, length: int) -> str | None:
    """Return why `sequence` is not a one-dimensional integer array of `length` entries; ``None`` if it is."""
    if type(sequence) is not np.ndarray:
        return f"sequence is a {type(sequence).__name__}, not an array"
    if not np.issubdtype(sequence.dtype, np.integer):
        return f"sequence has dtype {sequence.dtype}, not an integer one"
    if sequence.shape != (length,):
        return f"sequence has shape {sequence.shape}, expected ({length},)"
    return None


def permutation_violation(sequence: Any, length: int, entry: str) -> str | None:
    """Return why `sequence` is not a permutation of 0..length − 1; `entry` is what one of them is called."""
    violation = array_violation(sequence, length)
    if violation is not None:
        return violation
    seen: set[int] = set()
    for value in sequence.tolist():
        if not 0 <= value < length:
            return f"{entry} {value} is not in 0..{length - 1}"
        if value in seen:
            return f"{entry} {value} occurs twice"
        seen.add(value)
    return None


def repetition_violation(sequence: Any, entries: int, repetitions: int, entry: str) -> str | None:
    """Return why `sequence` does not hold each of 0..entries − 1 `repetitions` times; ``None`` if it does."""
    violation = array_violation(sequence, entries * repetitions)
    if violation is not None:
        return violation
    counts = [0] * entries
    for value in sequence.tolist():
        if not 0 <= value < entries:
            return f"{entry} {value} is not in 0..{entries - 1}"
        counts[value] += 1
    for value, count in enumerate(counts):
        if count != repetitions:
            return f"{entry} {value} occurs {count} times, expected {repetitions}"
    return None
