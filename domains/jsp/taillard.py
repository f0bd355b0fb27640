"""Taillard's 80 job-shop instances, made from their seeds, and further ones of their sizes.

References
----------
E. Taillard, Benchmarks for basic scheduling problems, European Journal of Operational Research 64(2),
1993: the generator of Section 2 and the instances of Section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

import numpy as np

from dga2d.domains.jsp.reader import JobShopData
from dga2d.domains.shared.lehmer import LehmerGenerator
from dga2d.domains.shared.shops import further

SIZES: Final = ((15, 15), (20, 15), (20, 20), (30, 15), (30, 20), (50, 15), (50, 20), (100, 20))
"""Jobs and machines of his instances, ten of each."""
COPIES: Final = 4
"""Further ones of a size for validation, and as many for the test."""


def generate(
    n_jobs: int, n_machines: int, time_seed: int, machine_seed: int, longest: int = 99
) -> JobShopData:
    """Return an instance of Taillard's type: times U[1, `longest`] job by job, then a machine order per
    job.
    """
    clock = LehmerGenerator(time_seed)
    times = [[clock.uniform(1, longest) for _ in range(n_machines)] for _ in range(n_jobs)]
    shuffler = LehmerGenerator(machine_seed)
    machines = [permutation(shuffler, n_machines) for _ in range(n_jobs)]
    return JobShopData(np.array(machines, dtype=np.int32), np.array(times, dtype=np.int32))


@cache
def further_shops() -> Mapping[str, further.FurtherShop]:
    """Return by name the 64 further shops, none of which is Taillard's."""
    return further.further_shops(generate, SIZES, 2, COPIES)


def permutation(generator: LehmerGenerator, size: int) -> list[int]:
    """Return 0, …, `size` − 1 shuffled as the generator does it."""
    order = list(range(size))
    for position in range(size):
        other = generator.uniform(position + 1, size) - 1
        order[position], order[other] = order[other], order[position]
    return order
