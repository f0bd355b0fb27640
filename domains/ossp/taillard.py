"""Taillard's 60 open-shop instances, made from their seeds.

References
----------
E. Taillard, Benchmarks for basic scheduling problems, European Journal of Operational Research 64(2),
1993: the generator of Section 2 and the instances of Section 5.
"""

from __future__ import annotations

import numpy as np

from dga2d.domains.jsp.taillard import generate as generate_job_shop
from dga2d.domains.shared.shops.files import ProcessingTimes


def generate(n_jobs: int, n_machines: int, time_seed: int, machine_seed: int) -> ProcessingTimes:
    """Return an instance of Taillard's type.

    It is drawn like a job-shop instance: times U[1, 99] job by job, then a machine permutation per job. The
    published files list the times of a job by machine, which is all that an open shop needs of it.
    """
    shop = generate_job_shop(n_jobs, n_machines, time_seed, machine_seed)
    times = np.empty_like(shop.times)
    np.put_along_axis(times, shop.machines.astype(np.int64), shop.times, axis=1)
    return ProcessingTimes(times)
