"""Resource-constrained project scheduling as a :class:`~dga2d.domains.contract.Domain`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dga2d.domains.contract import (
    Card,
    Decoder,
    Instance,
    InstanceRef,
    Operator,
    PipelineStep,
    Reference,
    State,
    Verdict,
)
from dga2d.domains.errors import InstanceFormatError, InvalidSolutionError
from dga2d.domains.library import load_library, pipeline
from dga2d.domains.published import list_instances
from dga2d.domains.rcpsp import progen, reader, smoke
from dga2d.domains.rcpsp.card import CARD, INVALID_SCORE
from dga2d.domains.rcpsp.environment import operator_environment
from dga2d.domains.rcpsp.solution import project_schedule_text
from dga2d.domains.rcpsp.verifier import verify_sequence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAFE_PIPELINE = ("justified_sampling", "ruin_and_recreate")
BASIC_PIPELINE = ("priority_rules", "simulated_annealing")
ILS_PIPELINE = ("priority_rules", "iterated_local_search")


@cache
def _library() -> tuple[Operator, ...]:
    return load_library(files("dga2d.domains.rcpsp"))


class ProjectScheduling:
    """The resource-constrained project scheduling problem, makespan objective.

    `Instance.data` holds the arrays of a :class:`~dga2d.domains.rcpsp.project.Project`.
    """

    name = "rcpsp"
    card: Card = CARD
    sense: Literal["min", "max"] = "min"
    invalid_score = float(INVALID_SCORE)

    def operators(self) -> tuple[Operator, ...]:
        return _library()

    def safe_baseline(self) -> tuple[PipelineStep, ...]:
        return pipeline(_library(), *SAFE_PIPELINE)

    def basic_baseline(self) -> tuple[PipelineStep, ...]:
        return pipeline(_library(), *BASIC_PIPELINE)

    def ils_baseline(self) -> tuple[PipelineStep, ...]:
        """Iterated local search: the priority rules' best list, perturbed and improved again and again."""
        return pipeline(_library(), *ILS_PIPELINE)

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

    def decoder(self, environment: Mapping[str, Any]) -> Decoder:
        # numba takes a third of a second to import; only callers that decode pay for it
        from dga2d.domains.rcpsp.decoder import make_decoder

        return make_decoder(environment)

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_sequence(instance.data, state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Start times; the format is described in :mod:`dga2d.domains.rcpsp.solution`."""
        verdict = self.verify(instance, state)
        if verdict.objective is None:
            raise InvalidSolutionError(verdict.violation)
        return project_schedule_text(instance.key, instance.data, state)

    def picture(self, instance: Instance, state: State) -> Figure:
        """Gantt chart and use of the resources; see :mod:`dga2d.domains.rcpsp.picture`."""
        from dga2d.domains.rcpsp.picture import picture

        return picture(instance, state)

    def cp_sat(self, instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
        """The baseline of :mod:`dga2d.domains.rcpsp.cp_sat`; needs OR-Tools."""
        from dga2d.domains.rcpsp.cp_sat import solve

        return solve(instance, time_limit_s, seed, workers)
