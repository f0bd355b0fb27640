"""Packings as positions in space: rebuilt from a sequence, and checked box against box.

It is what the verifiers of the packing domains rest on and shares nothing with the compiled placement: every
candidate point of a bin is tried against every box of it, and the packing that results is then checked as
geometry, whatever rule it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Sides = tuple[int, int, int]


class Packing(NamedTuple):
    """Where each item lies: bin, int64 `(n,)`, −1 if left out; corners `low` and `high`, int64 `(n, 3)`."""

    bins: Ints
    low: Ints
    high: Ints


class _Bin:
    """One bin under construction; corners and points are arrays `(3, k)`, a row for each coordinate."""

    def __init__(self, size: Ints) -> None:
        self.size = size
        self.points: Ints = np.zeros((3, 1), np.int64)
        self.low: Ints = np.empty((3, 0), np.int64)
        self.high: Ints = np.empty((3, 0), np.int64)
        self.free = int(np.prod(size))

    def first_fit(self, orientations: Ints) -> tuple[Ints, Ints] | None:
        """Return the corners of the first feasible place: by point (z, y, x), then by orientation; ``None``
        if none.
        """
        places = [self._first_point(sides) for sides in orientations]
        first = min(places)
        if first == self.points.shape[1]:
            return None
        low = self.points[:, first]
        return low, low + orientations[places.index(first)]

    def _first_point(self, sides: Ints) -> int:
        """Return the first point with room for these sides; the number of points if there is none."""
        ends = self.points + sides[:, None]
        inside = np.flatnonzero((ends <= self.size[:, None]).all(axis=0))
        blocked = _meet(self.low, self.high, self.points[:, inside], ends[:, inside]).any(axis=1)
        free = inside[~blocked]
        return int(free[0]) if free.size else self.points.shape[1]

    def add(self, low: Ints, high: Ints) -> None:
        corners = np.repeat(low[:, None], 3, axis=1)
        np.fill_diagonal(corners, high)
        points = np.unique(np.concatenate([self.points, corners], axis=1)[::-1], axis=1)[::-1]
        self.low = np.concatenate([self.low, low[:, None]], axis=1)
        self.high = np.concatenate([self.high, high[:, None]], axis=1)
        covered = _meet(self.low, self.high, points, points + 1).any(axis=1)
        self.points = points[:, ~covered]
        self.free -= int(np.prod(high - low))


def _meet(low: Ints, high: Ints, corners: Ints, ends: Ints) -> NDArray[np.bool_]:
    """Return whether boxes from `corners` to `ends` meet boxes from `low` to `high`: `(others, boxes)`."""
    meet: NDArray[np.bool_] = np.ones((corners.shape[1], low.shape[1]), np.bool_)
    for axis in range(3):
        meet &= low[axis] < ends[axis, :, None]
        meet &= high[axis] > corners[axis, :, None]
    return meet


def rebuild(
    sequence: NDArray[Any], orientations: Sequence[Sequence[Sides]], size: Sides, *, one_bin: bool
) -> Packing:
    """Return the packing that Extreme-Point First-Fit makes of a permutation of the items.

    `orientations` lists the permitted sides along x, y, z of each item in the order of trial. With `one_bin`
    an item without a place is left out; otherwise it opens the next bin at the origin.
    """
    n = len(orientations)
    packing = Packing(np.full(n, -1, np.int64), np.zeros((n, 3), np.int64), np.zeros((n, 3), np.int64))
    extent = np.array(size, np.int64)
    bins = [_Bin(extent)] if one_bin else []
    for item in sequence.tolist():
        sides = np.array(orientations[item], np.int64)
        number, place = _first_fit(bins, sides)
        if place is None and not one_bin:
            place = (np.zeros(3, np.int64), sides[0])
            bins.append(_Bin(extent))
        if place is not None:
            bins[number].add(*place)
            packing.bins[item], packing.low[item], packing.high[item] = number, *place
    return packing


def _first_fit(bins: list[_Bin], sides: Ints) -> tuple[int, tuple[Ints, Ints] | None]:
    """Return the first bin with a place and the place's corners; the number of bins and ``None`` if there is
    none.
    """
    volume = int(np.prod(sides[0]))
    for number, candidate in enumerate(bins):
        if candidate.free >= volume and (place := candidate.first_fit(sides)) is not None:
            return number, place
    return len(bins), None


def packing_violation(
    packing: Packing, orientations: Sequence[Sequence[Sides]], size: Sides, *, one_bin: bool
) -> str | None:
    """Return the first broken constraint of a packing; ``None`` if it is feasible.

    Every item (every packed one, with `one_bin`) has sides that it may have, lies inside its bin and meets no
    other; without `one_bin` every item is packed and no bin number below the largest is unused.
    """
    used = sorted(set(packing.bins[packing.bins >= 0].tolist()))
    if one_bin and used not in ([], [0]):
        return "an item lies in a second container"
    if not one_bin and ((packing.bins < 0).any() or used != list(range(len(used)))):
        return "an item lies in no bin, or a bin is empty"
    for item in np.flatnonzero(packing.bins >= 0).tolist():
        sides = tuple((packing.high[item] - packing.low[item]).tolist())
        if sides not in {tuple(permitted) for permitted in orientations[item]}:
            return f"item {item} has the sides {sides}, which are not permitted"
        if (packing.low[item] < 0).any() or (packing.high[item] > np.array(size)).any():
            return f"item {item} sticks out of its bin"
    for number in used:
        items = np.flatnonzero(packing.bins == number)
        low, high = packing.low[items], packing.high[items]
        meets = ((low[None] < high[:, None]) & (high[None] > low[:, None])).all(axis=2)
        pairs = np.argwhere(np.triu(meets, 1))
        if len(pairs):
            first, second = items[pairs[0]].tolist()
            return f"items {first} and {second} overlap"
    return None


MAX_ITEMS: Final = 5_000
"""Most items of an instance: work arrays grow with its square."""
LONGEST_SIDE: Final = 1_000_000
"""Longest side of a bin: keys of points have 21 bits for each coordinate."""


def side_fault(values: Any, bin_size: list[int] | None) -> str | None:
    """Return why `values` are not the three sides of a box that fits a bin; ``None`` if they are.

    Without `bin_size` they are a bin's own sides.
    """
    if not isinstance(values, list) or len(values) != 3:
        return "expected three sides"
    limits = [LONGEST_SIDE] * 3 if bin_size is None else bin_size
    for side, limit in zip(values, limits, strict=True):
        if type(side) is not int or not 1 <= side <= limit:
            return f"a side of {str(side)[:40]} is not in 1..{limit}"
    return None


def packing_text(key: str, header: str, first_line: str, packing: Packing) -> str:
    """Comment lines (``#``: the instance, the meaning of the lines), `first_line`, then a line per item.

    An item's line holds its number and bin (from 0, bin −1: left out), its lowest corner x y z and its sides
    along x, y, z as packed.
    """
    lines = [f"# instance {key}", f"# {header}, then per item: item bin x y z dx dy dz", first_line]
    sides = packing.high - packing.low
    for item, number in enumerate(packing.bins.tolist()):
        lines.append(" ".join(map(str, [item, number, *packing.low[item].tolist(), *sides[item].tolist()])))
    return "\n".join(lines) + "\n"
