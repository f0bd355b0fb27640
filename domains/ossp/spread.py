"""Open shops with spread-out times, in which all machines and jobs are nearly equally loaded.

The loads are modelled on the classes ``per0``, ``per10`` and ``per20`` of Brucker and others, which are among
the hardest small open shops: each load lies within so many per cent below 1000, and one of each kind is 1000.
Times with these loads are drawn by a random walk over all such tables (Diaconis and Gangolli), which makes
every table about equally likely. Instances of Brucker and others are not repeated: their drawing is another.

References
----------
P. Brucker, J. Hurink, B. Jurisch, B. Wöstmann, A branch & bound algorithm for the open-shop problem, Discrete
Applied Mathematics 76, 1997. P. Diaconis, A. Gangolli, Rectangular arrays with fixed margins, in Discrete
Probability and Algorithms, Springer 1995.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Part
from dga2d.domains.shared.lehmer import LehmerGenerator
from dga2d.domains.shared.shops.files import ProcessingTimes

GROUP: Final = "spread"
LOAD: Final = 1000
"""Largest load of a machine, and of a job."""
STEPS_PER_CELL: Final = 100
_SEED: Final = 982_451_653


class SpreadShop(NamedTuple):
    """What describes an instance."""

    size: int
    """Jobs, and machines."""
    percent: int
    """How far below `LOAD` a load may be."""
    number: int
    """From 1, among those that are alike."""
    part: Part | None = None
    """As in `InstanceRef`: it is drawn."""

    def data(self) -> ProcessingTimes:
        """Return the times."""
        mixed = _SEED * self.size + 15_485_863 * (1 + self.percent) + 32_452_843 * self.number
        draw = LehmerGenerator(mixed % (2**31 - 1))
        rows, columns = _loads(draw, self.size, self.percent)
        times = _northwest(rows, columns)
        for _ in range(STEPS_PER_CELL * times.size):
            _step(draw, times)
        return ProcessingTimes(times)


@cache
def shops() -> Mapping[str, SpreadShop]:
    """Return the instances of the group by name."""
    return {
        f"{size}x{size}-p{percent}-{number}": SpreadShop(size, percent, number)
        for size in (7, 8)
        for percent in (0, 10, 20)
        for number in (1, 2, 3)
    }


def _loads(draw: LehmerGenerator, size: int, percent: int) -> tuple[list[int], list[int]]:
    """Return loads of jobs and of machines, of equal sum; the first of each is `LOAD`."""
    least = LOAD * (100 - percent) // 100
    rows, columns = ([LOAD, *(draw.uniform(least, LOAD) for _ in range(size - 1))] for _ in range(2))
    while (excess := sum(rows) - sum(columns)) != 0:
        place = draw.uniform(1, size - 1)
        columns[place] = min(max(columns[place] + excess, least), LOAD)
    return rows, columns


def _northwest(rows: list[int], columns: list[int]) -> NDArray[np.int32]:
    """Return a table of these sums whose numbers are all positive: int32 `(n, n)`."""
    size = len(rows)
    table = np.ones((size, size), np.int32)
    left, above = [load - size for load in rows], [load - size for load in columns]
    i = j = 0
    while i < size and j < size:
        amount = min(left[i], above[j])
        table[i, j] += amount
        left[i] -= amount
        above[j] -= amount
        i, j = (i + 1, j) if left[i] == 0 else (i, j + 1)
    return table


def _step(draw: LehmerGenerator, table: NDArray[np.int32]) -> None:
    """Move an amount around a rectangle of two rows and two columns, so that no sum changes."""
    size = len(table)
    i, j = draw.uniform(0, size - 1), draw.uniform(0, size - 1)
    k, m = (i + draw.uniform(1, size - 1)) % size, (j + draw.uniform(1, size - 1)) % size
    low, high = 1 - min(int(table[i, j]), int(table[k, m])), min(int(table[i, m]), int(table[k, j])) - 1
    amount = draw.uniform(low, high)
    table[i, j] += amount
    table[k, m] += amount
    table[i, m] -= amount
    table[k, j] -= amount
