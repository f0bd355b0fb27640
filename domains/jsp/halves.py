"""Job shops in halves: every job visits one half of the machines before the other.

Made as the hard ones of Storer, Wu and Vaccari (``swv01`` to ``swv15``) are: times U[1, 100], the machines of
each half in random order. Seeds are our own. They count only where their group is named: recorded runs are
bound to splits without them.

References
----------
R. H. Storer, S. D. Wu, R. Vaccari, New search spaces for sequencing problems with application to job shop
scheduling, Management Science 38(10), 1992.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from dga2d.domains.core.contract import Part
from dga2d.domains.jsp.reader import JobShopData
from dga2d.domains.jsp.taillard import permutation
from dga2d.domains.shared.lehmer import LehmerGenerator

GROUP: Final = "halves"
LONGEST: Final = 100
SIZES: Final = ((20, 15, 3), (30, 20, 2), (40, 15, 2), (50, 20, 3))
"""Jobs, machines and number of instances."""


class HalvesShop(NamedTuple):
    """What describes an instance."""

    n_jobs: int
    n_machines: int
    number: int
    """From 1, among those of a size."""
    part: Part | None = None
    """As in `InstanceRef`: it is drawn."""

    def data(self) -> JobShopData:
        """Return the machines and times."""
        mixed = 472_882_027 * self.n_jobs + 15_485_863 * self.n_machines + 32_452_843 * self.number
        draw = LehmerGenerator(mixed % (2**31 - 1))
        half = self.n_machines // 2
        first = [permutation(draw, half) for _ in range(self.n_jobs)]
        second = [permutation(draw, self.n_machines - half) for _ in range(self.n_jobs)]
        machines = np.hstack((np.array(first), half + np.array(second)))
        times = [[draw.uniform(1, LONGEST) for _ in range(self.n_machines)] for _ in range(self.n_jobs)]
        return JobShopData(machines.astype(np.int32), np.array(times, np.int32))


@cache
def shops() -> Mapping[str, HalvesShop]:
    """Return the instances of the group by name."""
    return {
        f"{n_jobs}x{n_machines}-{number}": HalvesShop(n_jobs, n_machines, number)
        for n_jobs, n_machines, count in SIZES
        for number in range(1, count + 1)
    }
