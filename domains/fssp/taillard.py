"""Taillard's 110 flow-shop instances with up to 200 jobs, made from their seeds, and further ones of their
sizes.

References
----------
E. Taillard, Benchmarks for basic scheduling problems, European Journal of Operational Research 64(2),
1993: the generator of Section 2 and the instances of Section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from dga2d.domains.core.published import shipped_table
from dga2d.domains.shared.lehmer import LehmerGenerator
from dga2d.domains.shared.shops import further
from dga2d.domains.shared.shops.files import TABLE, ProcessingTimes

SIZES: Final = (
    *((jobs, machines) for jobs in (20, 50, 100) for machines in (5, 10, 20)),
    *((200, machines) for machines in (10, 20)),
)
"""Jobs and machines of his instances, ten of each."""
COPIES: Final = 3
"""Further ones of a size for validation, and as many for the test."""


def generate(n_jobs: int, n_machines: int, time_seed: int) -> ProcessingTimes:
    """Return an instance of Taillard's type: times U[1, 99], drawn machine by machine."""
    draw = LehmerGenerator(time_seed)
    times = [[draw.uniform(1, 99) for _ in range(n_jobs)] for _ in range(n_machines)]
    return ProcessingTimes(np.array(times, dtype=np.int32).T.copy())


@cache
def further_shops() -> Mapping[str, further.FurtherShop]:
    """Return by name the 66 further shops, none of which is Taillard's."""
    return further.further_shops(generate, SIZES, 1, COPIES)


def table() -> Mapping[str, Mapping[str, Any]]:
    """Seeds, sizes and best-known values by name (``tfs001`` … ``tfs110``), from ``taillard.json``."""
    instances: Mapping[str, Mapping[str, Any]] = shipped_table(__package__, TABLE)["instances"]
    return instances


def group_of(name: str) -> str | None:
    """Benchmark group of an instance of the table, its size (``20x5``); ``None`` for other names."""
    entry = table().get(name)
    return None if entry is None else f"{entry['jobs']}x{entry['machines']}"
