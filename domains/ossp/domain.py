"""Open shop scheduling as a :class:`~dga2d.domains.core.contract.Domain`.

The instance on which new implementations are tried: the first of Taillard's 4 × 4 problems, optimum 193.

References
----------
E. Taillard, Benchmarks for basic scheduling problems, European Journal of Operational Research 64(2), 1993.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dga2d.domains.core.contract import Instance, InstanceRef, Reference
from dga2d.domains.core.instance_data import fields_of
from dga2d.domains.ossp.own_instances import generated_refs, own_times
from dga2d.domains.shared.shops.domain import ShopDomain
from dga2d.domains.shared.shops.files import ProcessingTimes


class OpenShop(ShopDomain):
    """The open shop scheduling problem, makespan objective."""

    safe_pipeline = ("dispatching_rules", "ruin_and_recreate", "weighted_branching")
    basic_pipeline = ("dispatching_rules", "critical_block_annealing")
    ils_pipeline = ("dispatching_rules", "iterated_local_search")
    group = "taillard"
    rehearsed = (10, 10, 134_000_007, 344_000_011)

    def generated(self) -> tuple[InstanceRef, ...]:
        """Return instances with spread-out and with uneven times, and Taillard's, sorted by key."""
        return tuple(sorted((*generated_refs(), *super().generated()), key=lambda ref: ref.key))

    def generate(self, ref: InstanceRef) -> Mapping[str, Any] | None:
        times = own_times(ref)
        return super().generate(ref) if times is None else fields_of(times)

    def smoke_instance(self) -> Instance:
        reference = Reference(float(SMOKE_OPTIMUM), "optimal", "Taillard 1993")
        return Instance(self.name, "taillard", "ta4x4_1os", fields_of(four_by_four()), reference)


SMOKE_OPTIMUM = 193
"""Seven above the largest load of a machine or job, so that no search stops early."""

_TIMES = ((34, 2, 54, 61), (15, 89, 70, 9), (38, 19, 28, 87), (95, 7, 34, 29))


def four_by_four() -> ProcessingTimes:
    """Return the times of the instance."""
    return ProcessingTimes(np.array(_TIMES, dtype=np.int32))
