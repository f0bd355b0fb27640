"""Taillard's 80 job-shop instances, made from their seeds.

References
----------
E. Taillard, Benchmarks for basic scheduling problems, European Journal of Operational Research 64(2),
1993: the generator of Section 2 and the instances of Section 4.
"""

from __future__ import annotations

import numpy as np

from dga2d.domains.jsp.reader import JobShopData
from dga2d.domains.shared.lehmer import LehmerGenerator


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


def permutation(generator: LehmerGenerator, size: int) -> list[int]:
    """Return 0, …, `size` − 1 shuffled as the generator does it."""
    order = list(range(size))
    for position in range(size):
        other = generator.uniform(position + 1, size) - 1
        order[position], order[other] = order[other], order[position]
    return order
