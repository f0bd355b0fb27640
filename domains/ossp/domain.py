"""Open shop scheduling as a :class:`~dga2d.domains.core.contract.Domain`.

The instance on which new implementations are tried: the first of Taillard's 4 × 4 problems, optimum 193.

References
----------
E. Taillard, Benchmarks for basic scheduling problems, European Journal of Operational Research 64(2), 1993.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from dga2d.domains.core.contract import Instance, Reference
from dga2d.domains.core.instance_data import fields_of
from dga2d.domains.ossp import spread, uneven
from dga2d.domains.shared.shops.domain import ShopDomain
from dga2d.domains.shared.shops.files import ProcessingTimes


class OpenShop(ShopDomain):
    """The open shop scheduling problem, makespan objective."""

    safe_pipeline = ("dispatching_rules", "ruin_and_recreate", "weighted_branching")
    basic_pipeline = ("dispatching_rules", "critical_block_annealing")
    ils_pipeline = ("dispatching_rules", "iterated_local_search")
    group = "taillard"
    own_groups = MappingProxyType({spread.GROUP: spread.shops, uneven.GROUP: uneven.shops})
    rehearsed = (10, 10, 134_000_007, 344_000_011)

    def smoke_instance(self) -> Instance:
        reference = Reference(float(SMOKE_OPTIMUM), "optimal", "Taillard 1993")
        return Instance(self.name, "taillard", "ta4x4_1os", fields_of(four_by_four()), reference)


SMOKE_OPTIMUM = 193
"""Seven above the largest load of a machine or job, so that no search stops early."""

_TIMES = ((34, 2, 54, 61), (15, 89, 70, 9), (38, 19, 28, 87), (95, 7, 34, 29))


def four_by_four() -> ProcessingTimes:
    """Return the times of the instance."""
    return ProcessingTimes(np.array(_TIMES, dtype=np.int32))
