"""Shared helpers of the flow-shop tests: random instances, a plain decoder, library texts as plain Python."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dga2d.domains.contract import Instance
from dga2d.domains.fssp.reader import FlowShopData


@pytest.fixture
def data_dir() -> Path:
    """Folder of the published instances; the test is skipped where it is absent."""
    root = Path(__file__).resolve().parents[3]
    folder = Path(os.environ.get("DGA2D_DATA", root.parent / "shared" / "benchmarks"))
    if not (folder / "fssp").is_dir():
        pytest.skip(f"no published flow-shop instances below {folder} (set DGA2D_DATA)")
    return folder


@pytest.fixture
def make_instance() -> Callable[..., Instance]:
    """Random instances of a given size, times from `low` to 20."""

    def make(n_jobs: int, n_machines: int, seed: int, low: int = 1) -> Instance:
        times = np.random.default_rng(seed).integers(low, 21, (n_jobs, n_machines)).astype(np.int32)
        arrays = {"times": FlowShopData(times).times}
        return Instance("fssp", "random", f"{n_jobs}x{n_machines}-{seed}", arrays)

    return make


@pytest.fixture
def random_sequence() -> Callable[[Instance, int], NDArray[np.int32]]:
    def make(instance: Instance, seed: int) -> NDArray[np.int32]:
        n_jobs, n_machines = instance.data["times"].shape
        entries = np.repeat(np.arange(n_jobs, dtype=np.int32), n_machines)
        return np.random.default_rng(seed).permutation(entries)

    return make


@pytest.fixture
def plain_makespan() -> Callable[[Instance, Any], float]:
    """The card's decoder in plain Python."""

    def decode(instance: Instance, sequence: Any) -> float:
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

    return decode
