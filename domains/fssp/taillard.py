"""Taillard's 110 flow-shop instances with up to 200 jobs, made from their seeds.

References
----------
E. Taillard, Benchmarks for basic scheduling problems, European Journal of Operational Research 64(2),
1993: the generator of Section 2 and the instances of Section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dga2d.domains.core.published import shipped_table
from dga2d.domains.shared.lehmer import LehmerGenerator
from dga2d.domains.shared.shops.files import TABLE, ProcessingTimes


def generate(n_jobs: int, n_machines: int, time_seed: int) -> ProcessingTimes:
    """Return an instance of Taillard's type: times U[1, 99], drawn machine by machine."""
    draw = LehmerGenerator(time_seed)
    times = [[draw.uniform(1, 99) for _ in range(n_jobs)] for _ in range(n_machines)]
    return ProcessingTimes(np.array(times, dtype=np.int32).T.copy())


def table() -> Mapping[str, Mapping[str, Any]]:
    """Seeds, sizes and best-known values by name (``tfs001`` … ``tfs110``), from ``taillard.json``."""
    instances: Mapping[str, Mapping[str, Any]] = shipped_table(__package__, TABLE)["instances"]
    return instances


def group_of(name: str) -> str | None:
    """Benchmark group of an instance of the table, its size (``20x5``); ``None`` for other names."""
    entry = table().get(name)
    return None if entry is None else f"{entry['jobs']}x{entry['machines']}"
