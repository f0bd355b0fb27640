"""Random flow-shop instances and encodings, and the card's decoder in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance
from dga2d.domains.shared.shops.files import ProcessingTimes


def random_instance(n_jobs: int, n_machines: int, seed: int, low: int = 1) -> Instance:
    """An instance of a given size, times from `low` to 20."""
    times = np.random.default_rng(seed).integers(low, 21, (n_jobs, n_machines)).astype(np.int32)
    arrays = {"times": ProcessingTimes(times).times}
    return Instance("fssp", "random", f"{n_jobs}x{n_machines}-{seed}", arrays)


def random_sequence(instance: Instance, seed: int) -> NDArray[np.int32]:
    """A random valid encoding."""
    n_jobs, n_machines = instance.data["times"].shape
    entries = np.repeat(np.arange(n_jobs, dtype=np.int32), n_machines)
    return np.random.default_rng(seed).permutation(entries)


def plain_makespan(instance: Instance, sequence: Any) -> float:
    """The card's decoder in plain Python."""
    times = instance.data["times"].tolist()
    n_jobs, n_machines = len(times), len(times[0])
    entries = [int(job) for job in sequence]
    if sorted(entries) != sorted(list(range(n_jobs)) * n_machines):
        return 999_999_999.0
    job_end, machine_end, step = [0] * n_jobs, [0] * n_machines, [0] * n_jobs
    for job in entries:
        machine = step[job]
        end = max(job_end[job], machine_end[machine]) + times[job][machine]
        job_end[job] = machine_end[machine] = end
        step[job] += 1
    return float(max(machine_end))
