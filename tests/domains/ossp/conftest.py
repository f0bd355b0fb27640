"""Shared helpers of the open-shop tests: random instances, a plain decoder, library texts as plain Python."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dga2d.domains.contract import Instance
from dga2d.domains.ossp.reader import OpenShopData


@pytest.fixture
def data_dir() -> Path:
    """Folder of the published instances; the test is skipped where it is absent."""
    root = Path(__file__).resolve().parents[3]
    folder = Path(os.environ.get("DGA2D_DATA", root.parent / "shared" / "benchmarks"))
    if not (folder / "ossp").is_dir():
        pytest.skip(f"no published open-shop instances below {folder} (set DGA2D_DATA)")
    return folder


@pytest.fixture
def make_instance() -> Callable[..., Instance]:
    """Random instances of a given size, times from `low` to 20."""

    def make(n_jobs: int, n_machines: int, seed: int, low: int = 1) -> Instance:
        rng = np.random.default_rng(seed)
        data = OpenShopData(rng.integers(low, 21, (n_jobs, n_machines)).astype(np.int32))
        return Instance("ossp", "random", f"{n_jobs}x{n_machines}-{seed}", {"times": data.times})

    return make


@pytest.fixture
def random_sequence() -> Callable[[Instance, int], NDArray[np.int32]]:
    def make(instance: Instance, seed: int) -> NDArray[np.int32]:
        return np.random.default_rng(seed).permutation(instance.data["times"].size).astype(np.int32)

    return make


@pytest.fixture
def plain_makespan() -> Callable[[Instance, Any], float]:
    """The card's decoder in plain Python."""

    def decode(instance: Instance, sequence: Any) -> float:
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

    return decode
