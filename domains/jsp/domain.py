"""Job shop scheduling as a :class:`~dga2d.domains.core.contract.Domain`.

The instance on which new implementations are tried: Fisher and Thompson's 6 × 6 problem, optimum 55.

References
----------
H. Fisher, G. L. Thompson, Probabilistic learning combinations of local job-shop scheduling rules, in
Industrial Scheduling, Prentice-Hall, 1963.
"""

from __future__ import annotations

import numpy as np

from dga2d.domains.core.contract import Instance, Reference
from dga2d.domains.core.library import fields_of
from dga2d.domains.jsp import taillard
from dga2d.domains.jsp.card import CARD, INVALID_SCORE
from dga2d.domains.jsp.reader import JobShopData
from dga2d.domains.shared.shops.domain import ShopDomain


class JobShop(ShopDomain):
    """The job shop scheduling problem, makespan objective."""

    card = CARD
    invalid_score = float(INVALID_SCORE)
    safe_pipeline = ("giffler_thompson", "elite_tabu")
    basic_pipeline = ("giffler_thompson", "critical_block_annealing")
    ils_pipeline = ("giffler_thompson", "iterated_tabu")
    group = "ta"
    tables = ("machines", "times")

    def smoke_instance(self) -> Instance:
        reference = Reference(float(SMOKE_OPTIMUM), "optimal", "Carlier and Pinson 1989")
        return Instance(self.name, "ft", "ft06", fields_of(ft06()), reference)

    def rehearsal_instance(self) -> Instance:
        shop = taillard.generate(15, 15, 840_000_017, 398_000_023)
        return Instance(self.name, "rehearsal", "ordinary", fields_of(shop))


SMOKE_OPTIMUM = 55

_MACHINES = (
    (2, 0, 1, 3, 5, 4),
    (1, 2, 4, 5, 0, 3),
    (2, 3, 5, 0, 1, 4),
    (1, 0, 2, 3, 4, 5),
    (2, 1, 4, 5, 0, 3),
    (1, 3, 5, 0, 4, 2),
)
_TIMES = (
    (1, 3, 6, 7, 3, 6),
    (8, 5, 10, 10, 10, 4),
    (5, 4, 8, 9, 1, 7),
    (5, 5, 5, 3, 8, 9),
    (9, 3, 5, 4, 3, 1),
    (3, 3, 9, 10, 4, 1),
)


def ft06() -> JobShopData:
    """Return the machines and times of ft06."""
    return JobShopData(np.array(_MACHINES, dtype=np.int32), np.array(_TIMES, dtype=np.int32))
