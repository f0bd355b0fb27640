"""Job shop scheduling as a :class:`~dga2d.domains.core.contract.Domain`.

The instance on which new implementations are tried: Fisher and Thompson's 6 × 6 problem, optimum 55.

References
----------
H. Fisher, G. L. Thompson, Probabilistic learning combinations of local job-shop scheduling rules, in
Industrial Scheduling, Prentice-Hall, 1963.
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
from dga2d.domains.jsp import reader, taillard
from dga2d.domains.jsp.card import CARD, INVALID_SCORE
from dga2d.domains.jsp.reader import JobShopData, operator_environment
from dga2d.domains.jsp.verifier import START_TIMES, schedule, verify_sequence
from dga2d.domains.shared.shops.files import schedule_text


class JobShop(LibraryDomain):
    """The job shop scheduling problem, makespan objective."""

    name = "jsp"
    card: Card = CARD
    sense: Literal["min", "max"] = "min"
    invalid_score = float(INVALID_SCORE)
    safe_pipeline = ("giffler_thompson", "path_relinking_tabu")
    basic_pipeline = ("giffler_thompson", "critical_block_annealing")
    ils_pipeline = ("giffler_thompson", "iterated_tabu")

    def generated(self) -> tuple[InstanceRef, ...]:
        """Taillard's 80 instances; their published files hold the same numbers."""
        return tuple(
            InstanceRef(self.name, "ta", name, None, reference_of("taillard.json", name, entry))
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
        return self._instance(ref.group, ref.name, data, ref.reference)

    def smoke_instance(self) -> Instance:
        reference = Reference(float(SMOKE_OPTIMUM), "optimal", "Carlier and Pinson 1989")
        return self._instance("ft", "ft06", ft06(), reference)

    def _instance(
        self, group: str, name: str, data: reader.JobShopData, reference: Reference | None
    ) -> Instance:
        arrays = {"machines": data.machines, "times": data.times}
        return Instance(self.name, group, name, arrays, reference)

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Fresh writable arrays: operators may scribble on them without harm to the instance."""
        return operator_environment(instance.data["machines"], instance.data["times"])

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_sequence(instance.data["machines"], instance.data["times"], state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Start times per job; the format is described in :mod:`dga2d.domains.jsp.verifier`."""
        objective = require_feasible(self.verify(instance, state))
        starts = schedule(instance.data["machines"], instance.data["times"], state.sequence)
        return schedule_text(instance.key, START_TIMES, starts, int(objective))


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
    """Machines and times of ft06."""
    return JobShopData(np.array(_MACHINES, dtype=np.int32), np.array(_TIMES, dtype=np.int32))
