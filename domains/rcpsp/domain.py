"""Resource-constrained project scheduling as a :class:`~dga2d.domains.contract.Domain`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from dga2d.domains.contract import (
    Card,
    Instance,
    InstanceRef,
    Reference,
    State,
    Verdict,
)
from dga2d.domains.errors import InstanceFormatError
from dga2d.domains.feasible import require_feasible
from dga2d.domains.library_domain import LibraryDomain
from dga2d.domains.published import list_instances
from dga2d.domains.rcpsp import progen, reader, smoke
from dga2d.domains.rcpsp.card import CARD, INVALID_SCORE
from dga2d.domains.rcpsp.environment import operator_environment
from dga2d.domains.rcpsp.solution import project_schedule_text
from dga2d.domains.rcpsp.verifier import verify_sequence


class ProjectScheduling(LibraryDomain):
    """The resource-constrained project scheduling problem, makespan objective.

    `Instance.data` holds the arrays of a :class:`~dga2d.domains.rcpsp.project.Project`.
    """

    name = "rcpsp"
    card: Card = CARD
    sense: Literal["min", "max"] = "min"
    invalid_score = float(INVALID_SCORE)
    safe_pipeline = ("justified_sampling", "ruin_and_recreate")
    basic_pipeline = ("priority_rules", "simulated_annealing")
    ils_pipeline = ("priority_rules", "iterated_local_search")

    def generated(self) -> tuple[InstanceRef, ...]:
        """ProGen-style projects of 30, 60, 90 and 120 activities with references by CP-SAT."""
        return progen.generated_refs()

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        return list_instances(self.name, data_dir / self.name, reader.SUFFIXES)

    def load(self, ref: InstanceRef) -> Instance:
        if ref.path is not None:
            project = reader.read_instance(ref.path)
        elif (design := progen.find_design(ref.key)) is not None:
            project = design.project()
        else:
            raise InstanceFormatError(ref.key, None, "has no file and is not a generated instance")
        return Instance(self.name, ref.group, ref.name, project.data(), ref.reference)

    def smoke_instance(self) -> Instance:
        reference = Reference(float(smoke.OPTIMUM), "optimal", "CP-SAT")
        return Instance(self.name, "smoke", "eight", smoke.eight_activities().data(), reference)

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Fresh writable arrays: operators may scribble on them without harm to the instance."""
        return operator_environment(instance.data)

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_sequence(instance.data, state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Start times; the format is described in :mod:`dga2d.domains.rcpsp.solution`."""
        require_feasible(self.verify(instance, state))
        return project_schedule_text(instance.key, instance.data, state)
