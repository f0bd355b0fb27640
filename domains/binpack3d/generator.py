"""The eight classes of random instances of Martello, Pisinger and Vigo, with seeds of our own.

References
----------
S. Martello, D. Pisinger, D. Vigo, The three-dimensional bin packing problem, Operations Research 48(2), 2000,
Section 6: classes 1–5 mix five types of items in a bin of 100³, classes 6–8 (after Berkey and Wang) draw all
sides from one interval. The published work gives the distributions, not the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np

from dga2d.domains.binpack3d.reader import BinPackingData
from dga2d.domains.shared.lehmer import LehmerGenerator

SIZES: Final = (10, 20, 30, 40, 50, 60, 100, 150, 200)
CLASSES: Final = (1, 2, 3, 4, 5, 6, 7, 8)
INSTANCES: Final = 10
"""Instances of each class and size."""

_BIN_SIDE: Final = {6: 10, 7: 40}
_LONGEST: Final = {6: 10, 7: 35, 8: 100}
_SMALL, _HALF, _LARGE = (1, 50), (50, 100), (67, 100)
_TYPES: Final = (
    (_SMALL, _LARGE, _LARGE),
    (_LARGE, _SMALL, _LARGE),
    (_LARGE, _LARGE, _SMALL),
    (_HALF, _HALF, _HALF),
    (_SMALL, _SMALL, _SMALL),
)
"""Intervals of the three sides for types 1–5 in a bin of 100: [1, 50], [50, 100] and [200/3, 100]."""


class GeneratedInstance(NamedTuple):
    """What the program needs to make an instance again."""

    group: str
    """``n10`` … ``n200``: the number of items."""
    name: str
    """``class1_01`` … ``class8_10``."""
    item_class: int
    size: int
    number: int
    """1..10 within class and size."""

    def data(self) -> BinPackingData:
        make = generate_published if self.name.startswith(PUBLISHED) else generate
        return make(self.item_class, self.size, self.number)


def generated_instances() -> tuple[GeneratedInstance, ...]:
    """Return all 720 instances, sorted by group and name."""
    instances = (
        GeneratedInstance(f"n{n}", f"class{k}_{number:02d}", k, n, number)
        for n in SIZES
        for k in CLASSES
        for number in range(1, INSTANCES + 1)
    )
    return tuple(sorted(instances))


def generate(item_class: int, size: int, number: int) -> BinPackingData:
    """Return instance `number` of a class and size: seed 10⁶·class + 10³·size + number, ten draws dropped."""
    draw = LehmerGenerator(1_000_000 * item_class + 1_000 * size + number)
    for _ in range(10):
        draw.uniform(0, 1)
    side = _BIN_SIDE.get(item_class, 100)
    if item_class in _LONGEST:
        rows = [[draw.uniform(1, _LONGEST[item_class]) for _ in range(3)] for _ in range(size)]
    else:
        rows = list(_mix_items(item_class, size, draw.uniform))
    return BinPackingData(np.full(3, side, np.int32), np.array(rows, np.int32))


PUBLISHED: Final = "mpv-"
"""What the names of the published instances begin with."""


def published_instances() -> tuple[GeneratedInstance, ...]:
    """Return the 720 published instances, sorted by group and name: ``mpv-class1_01`` and so on."""
    return tuple(one._replace(name=f"{PUBLISHED}{one.name}") for one in generated_instances())


def generate_published(item_class: int, size: int, number: int) -> BinPackingData:
    """Return a published instance with the numbers of the authors' generator: seed `size` + `number`, the
    48-bit congruential numbers of C (``srand48``, ``lrand48``), whole-number bounds.

    References
    ----------
    S. Martello, D. Pisinger, D. Vigo, The three-dimensional bin packing problem, Operations Research 48(2),
    2000, and its generator, test3dbpp.c.
    """
    state = ((size + number) << 16) + 0x330E

    def uniform(low: int, high: int) -> int:
        nonlocal state
        state = (0x5DEECE66D * state + 0xB) % 2**48
        return low + (state >> 17) % (high - low + 1)

    side = _BIN_SIDE.get(item_class, 100)
    if item_class in _LONGEST:
        rows = [[uniform(1, _LONGEST[item_class]) for _ in range(3)] for _ in range(size)]
    else:
        rows = []
        for _ in range(size):
            draw = uniform(1, 10)
            kind = draw if draw <= 5 else item_class
            rows.append([uniform(low, high) for low, high in _PUBLISHED_TYPES[kind - 1]])
    return BinPackingData(np.full(3, side, np.int32), np.array(rows, np.int32))


_PUBLISHED_LARGE: Final = (66, 100)
"""The authors divide whole numbers: 2 · 100 / 3 is 66."""
_PUBLISHED_TYPES: Final = tuple(
    tuple(_PUBLISHED_LARGE if sides == _LARGE else sides for sides in kind) for kind in _TYPES
)


def _mix_items(item_class: int, size: int, uniform: Callable[[int, int], int]) -> Iterator[list[int]]:
    """Items of type `item_class` with probability 0.6, of each other type with probability 0.1."""
    others = [kind for kind in range(1, 6) if kind != item_class]
    for _ in range(size):
        draw = uniform(1, 10)
        kind = item_class if draw <= 6 else others[draw - 7]
        yield [uniform(low, high) for low, high in _TYPES[kind - 1]]
