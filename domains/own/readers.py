"""How decoders read solutions, compiled: they are read for every score that an operator asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from dga2d.domains.core.contract import State
from dga2d.domains.own.encodings import (
    VALUES,
    Assignment,
    Encoding,
    Permutation,
    RealVector,
    Sequence,
    Subset,
)
from dga2d.domains.own.named_arrays import Array, Arrays, NamedArrays, alone

Reader = Callable[[State], Any]
"""Returns a fresh copy of the solution in a state as its author sees it; ``None`` if there is none."""


def reader_of(encoding: Encoding) -> Reader:
    """Return the reader of a solution space."""
    if isinstance(encoding, Permutation):
        return _reader_of_counts(np.ones(encoding.n, np.int64))
    if isinstance(encoding, Sequence):
        return _reader_of_counts(encoding.counts)
    if isinstance(encoding, Assignment):
        return _reader_below(encoding.n, encoding.k)
    if isinstance(encoding, Subset):
        return _reader_of_subsets(encoding)
    if isinstance(encoding, RealVector):
        return _reader_within(encoding.low, encoding.high)
    if isinstance(encoding, Array):
        return _reader_of_array(encoding)
    if isinstance(encoding, Arrays):
        return _reader_of_parts(encoding)
    raise TypeError(f"there is no reader for {type(encoding).__name__}")


def _reader_of_counts(counts: NDArray[np.int64]) -> Reader:
    """Return the reader of sequences in which value v occurs ``counts[v]`` times."""
    n, left = int(counts.sum()), np.empty_like(counts)

    def read(state: State) -> NDArray[Any] | None:
        order = as_array(state.sequence, n, "iu", np.int32)
        return order if order is not None and occurs_as_often(order, counts, left) else None

    return read


def _reader_below(n: int, upper: int) -> Reader:
    """Return the reader of sequences of length `n` with entries in 0..upper − 1."""

    def read(state: State) -> NDArray[Any] | None:
        values = as_array(state.sequence, n, "iu", np.int32)
        return values if values is not None and lies_below(values, upper) else None

    return read


def _reader_of_subsets(encoding: Subset) -> Reader:
    read, size = _reader_below(encoding.n, 2), encoding.size

    def read_choice(state: State) -> NDArray[Any] | None:
        chosen = read(state)
        return chosen if chosen is not None and (size < 0 or int(chosen.sum()) == size) else None

    return read_choice


def _reader_within(low: NDArray[np.float64], high: NDArray[np.float64]) -> Reader:
    """Return the reader of real vectors between bounds."""

    def read(state: State) -> NDArray[Any] | None:
        values = as_array(state.metadata.get(VALUES), low.size, "iuf", np.float64)
        return values if values is not None and lies_within(values, low, high) else None

    return read


def _reader_of_array(array: Array) -> Reader:
    """Return the reader of an array of any shape between bounds."""
    kinds, low, high = "iu" if array.dtype is np.int64 else "iuf", array.low.ravel(), array.high.ravel()

    def read(state: State) -> NDArray[Any] | None:
        values = as_array(state.sequence, array.shape, kinds, array.dtype)
        return values if values is not None and lies_within(values.ravel(), low, high) else None

    return read


def _reader_of_parts(arrays: Arrays) -> Reader:
    """Return the reader of several arrays by name."""
    readers = {name: (part, reader_of(part)) for name, part in arrays.parts.items()}

    def read(state: State) -> NamedArrays | None:
        found = {}
        for name, (part, read_part) in readers.items():
            values = read_part(alone(part, state.metadata.get(name)))
            if values is None:
                return None
            found[name] = values
        return NamedArrays(found)

    return read


def as_array(value: Any, shape: int | tuple[int, ...], kinds: str, dtype: type) -> NDArray[Any] | None:
    """Return a fresh copy of an array of the `shape` (a number: of so many entries) and one of the `kinds` as
    `dtype`; ``None`` if `value` is none.
    """
    if type(value) is not np.ndarray or value.dtype.kind not in kinds:
        return None
    wanted = shape if isinstance(shape, tuple) else (shape,)
    return value.astype(dtype) if value.shape == wanted else None


@njit(cache=True)
def occurs_as_often(sequence, counts, left):  # type: ignore[no-untyped-def]
    """Return whether value v occurs ``counts[v]`` times in `sequence` and nothing else does.

    `left` is scratch, shaped like `counts`.
    """
    left[:] = counts
    for k in range(sequence.size):
        value = sequence[k]
        if value < 0 or value >= left.size or left[value] == 0:
            return False
        left[value] -= 1
    return True


@njit(cache=True)
def lies_below(sequence, upper):  # type: ignore[no-untyped-def]
    """Return whether all entries lie in 0..upper − 1."""
    outside = 0
    for k in range(sequence.size):
        outside += sequence[k] < 0 or sequence[k] >= upper
    return outside == 0


@njit(cache=True)
def lies_within(values, low, high):  # type: ignore[no-untyped-def]
    """Return whether ``low[k] <= values[k] <= high[k]`` for all k; NaN lies nowhere."""
    inside = 0
    for k in range(values.size):
        inside += low[k] <= values[k] <= high[k]
    return inside == values.size
