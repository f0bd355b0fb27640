"""Open shop scheduling as a :class:`~dga2d.domains.contract.Domain`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from dga2d.domains.contract import Card, Instance, InstanceRef, Reference, State, Verdict
from dga2d.domains.errors import InstanceFormatError
from dga2d.domains.feasible import require_feasible
from dga2d.domains.library_domain import LibraryDomain
from dga2d.domains.ossp import reader, smoke, taillard
from dga2d.domains.ossp.card import CARD, INVALID_SCORE
from dga2d.domains.ossp.environment import operator_environment
from dga2d.domains.ossp.solution import START_TIMES
from dga2d.domains.ossp.verifier import schedule, verify_sequence
from dga2d.domains.published import list_instances, reference_of
from dga2d.domains.shops import schedule_text


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
        reference = Reference(float(smoke.OPTIMUM), "optimal", "Taillard 1993")
        data = smoke.four_by_four()
        return Instance(self.name, "taillard", "ta4x4_1os", {"times": data.times}, reference)

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Fresh writable arrays: operators may scribble on them without harm to the instance."""
        return operator_environment(instance.data["times"])

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_sequence(instance.data["times"], state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Start times per job; the format is described in :mod:`dga2d.domains.ossp.solution`."""
        objective = require_feasible(self.verify(instance, state))
        starts = schedule(instance.data["times"], state.sequence)
        return schedule_text(instance.key, START_TIMES, starts, int(objective))
