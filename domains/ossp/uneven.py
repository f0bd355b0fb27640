"""Open shops of equal loads and very uneven times, whose optimum lies well above the trivial bound.

Drawn in the manner of Guéret and Prins: at first an operation takes 1000 / n everywhere (what does not divide
goes to the diagonal); then, n³ times, two operations of different jobs on different machines give the same
amount to those in the other two corners, so that each job and each machine keeps its 1000. The amount lies
between `SHARE` and twice that share of the most that the smaller of the two could give; cut off there, it
often leaves an operation of 1. Optima lie 3 to 10 % above 1000, mostly.

The rule is taken from a description of a generator that follows theirs (A hard instances generator for the
open shop scheduling problem, optalgo.com), as the paper itself was not at hand. Two things are our own: what
the smaller operation can give counts, not the larger, with which times would fall below 1; and the numbers,
chosen so that there are about as many operations of 1 as in their first instance of 10 × 10.

References
----------
C. Guéret, C. Prins, A new lower bound for the open-shop problem, Annals of Operations Research 92, 1999.
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

GROUP: Final = "uneven"
LOAD: Final = 1000
"""Load of each machine, and of each job."""
SHARE: Final = 75
"""Per cent."""
SIZES: Final = (10,)
NUMBERS: Final = range(1, 11)
_SEED: Final = 160_481_183


class UnevenShop(NamedTuple):
    """What describes an instance."""

    size: int
    """Jobs, and machines."""
    number: int
    """From 1, among those of a size."""
    part: Part | None = None
    """As in `InstanceRef`: it is drawn."""

    def data(self) -> ProcessingTimes:
        """Return the times."""
        draw = LehmerGenerator((_SEED * self.size + 32_452_843 * self.number) % (2**31 - 1))
        times = np.full((self.size, self.size), LOAD // self.size, np.int32)
        np.fill_diagonal(times, LOAD // self.size + LOAD % self.size)
        for _ in range(self.size**3):
            _exchange(draw, times)
        return ProcessingTimes(times)


@cache
def shops() -> Mapping[str, UnevenShop]:
    """Return the instances of the group by name."""
    return {f"{size}x{size}-{number:02}": UnevenShop(size, number) for size in SIZES for number in NUMBERS}


def _exchange(draw: LehmerGenerator, times: NDArray[np.int32]) -> None:
    """Move an amount around a rectangle of two jobs and two machines, so that no load changes."""
    size = len(times)
    i, j = draw.uniform(0, size - 1), draw.uniform(0, size - 1)
    k, m = (i + draw.uniform(1, size - 1)) % size, (j + draw.uniform(1, size - 1)) % size
    most = min(int(times[i, j]), int(times[k, m])) - 1
    least = SHARE * most // 100
    amount = min(least + draw.uniform(0, least), most)
    times[i, j] -= amount
    times[k, m] -= amount
    times[i, m] += amount
    times[k, j] += amount
