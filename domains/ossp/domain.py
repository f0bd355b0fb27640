"""Open shop scheduling as a :class:`~dga2d.domains.core.contract.Domain`.

The instance on which new implementations are tried: the first of Taillard's 4 × 4 problems, optimum 193.

References
----------
E. Taillard, Benchmarks for basic scheduling problems, European Journal of Operational Research 64(2), 1993.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np

from dga2d.domains.core.contract import (
    Card,
    Instance,
    InstanceRef,
    Reference,
    State,
    Verdict,
    require_feasible,
)
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.library import LibraryDomain
from dga2d.domains.core.published import list_instances, reference_of
from dga2d.domains.ossp import reader, taillard
from dga2d.domains.ossp.card import CARD, INVALID_SCORE
from dga2d.domains.ossp.reader import OpenShopData, operator_environment
from dga2d.domains.ossp.verifier import START_TIMES, schedule, verify_sequence
from dga2d.domains.shared.shops.files import schedule_text


class OpenShop(LibraryDomain):
    """The open shop scheduling problem, makespan objective."""

    name = "ossp"
    card: Card = CARD
    sense: Literal["min", "max"] = "min"
    invalid_score = float(INVALID_SCORE)
    safe_pipeline = ("dispatching_rules", "ruin_and_recreate")
    basic_pipeline = ("dispatching_rules", "critical_block_annealing")
    ils_pipeline = ("dispatching_rules", "iterated_local_search")

    def generated(self) -> tuple[InstanceRef, ...]:
        """Taillard's 60 instances; their published files hold the same numbers."""
        return tuple(
            InstanceRef(self.name, "taillard", name, None, reference_of("taillard.json", name, entry))
            for name, entry in sorted(taillard.table().items())
        )

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        return list_instances(self.name, data_dir / self.name, reader.SUFFIXES)

    def load(self, ref: InstanceRef) -> Instance:
        if ref.path is not None:
            data = reader.read_instance(ref.path)
        elif (seeds := taillard.table().get(ref.name)) is not None:
            data = taillard.generate(
                seeds["jobs"], seeds["machines"], seeds["time_seed"], seeds["machine_seed"]
            )
        else:
            raise InstanceFormatError(ref.key, None, "has no file and is not a generated instance")
        return Instance(self.name, ref.group, ref.name, {"times": data.times}, ref.reference)

    def smoke_instance(self) -> Instance:
        reference = Reference(float(SMOKE_OPTIMUM), "optimal", "Taillard 1993")
        data = four_by_four()
        return Instance(self.name, "taillard", "ta4x4_1os", {"times": data.times}, reference)

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Fresh writable arrays: operators may scribble on them without harm to the instance."""
        return operator_environment(instance.data["times"])

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_sequence(instance.data["times"], state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Start times per job; the format is described in :mod:`dga2d.domains.ossp.verifier`."""
        objective = require_feasible(self.verify(instance, state))
        starts = schedule(instance.data["times"], state.sequence)
        return schedule_text(instance.key, START_TIMES, starts, int(objective))


SMOKE_OPTIMUM = 193
"""Seven above the largest load of a machine or job, so that no search stops early."""

_TIMES = ((34, 2, 54, 61), (15, 89, 70, 9), (38, 19, 28, 87), (95, 7, 34, 29))


def four_by_four() -> OpenShopData:
    """Times of the instance."""
    return OpenShopData(np.array(_TIMES, dtype=np.int32))
