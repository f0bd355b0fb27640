"""Random open-shop instances and encodings, and the card's decoder in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance
from dga2d.domains.shared.shops.files import ProcessingTimes


def random_instance(n_jobs: int, n_machines: int, seed: int, low: int = 1) -> Instance:
    """An instance of a given size, times from `low` to 20."""
    rng = np.random.default_rng(seed)
    data = ProcessingTimes(rng.integers(low, 21, (n_jobs, n_machines)).astype(np.int32))
    return Instance("ossp", "random", f"{n_jobs}x{n_machines}-{seed}", {"times": data.times})


def random_sequence(instance: Instance, seed: int) -> NDArray[np.int32]:
    """A random valid encoding."""
    return np.random.default_rng(seed).permutation(instance.data["times"].size).astype(np.int32)


def plain_makespan(instance: Instance, sequence: Any) -> float:
    """The card's decoder in plain Python."""
    times = instance.data["times"].tolist()
    n_jobs, n_machines = len(times), len(times[0])
    operations = [int(operation) for operation in sequence]
    if sorted(operations) != list(range(n_jobs * n_machines)):
        return 999_999_999.0
    job_end, machine_end = [0] * n_jobs, [0] * n_machines
    for operation in operations:
        job, machine = operation // n_machines, operation % n_machines
        end = max(job_end[job], machine_end[machine]) + times[job][machine]
        job_end[job] = machine_end[machine] = end
    return float(max(machine_end))
