"""Flow shop scheduling as a :class:`~dga2d.domains.contract.Domain`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
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
from dga2d.domains.fssp import reader, smoke, taillard
from dga2d.domains.fssp.card import CARD, INVALID_SCORE
from dga2d.domains.fssp.environment import operator_environment
from dga2d.domains.fssp.solution import START_TIMES
from dga2d.domains.fssp.verifier import schedule, verify_sequence
from dga2d.domains.library import load_library, pipeline
from dga2d.domains.published import list_instances, reference_of
from dga2d.domains.shops import schedule_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAFE_PIPELINE = ("neh_reinsertion", "iterated_greedy", "machine_order_tabu")
BASIC_PIPELINE = ("neh", "simulated_annealing")
ILS_PIPELINE = ("neh", "iterated_local_search")
FOLDER = "taillard"
"""Folder of Taillard's published files; their groups, as the DGA2D paper splits them, are the sizes."""


@cache
def _library() -> tuple[Operator, ...]:
    return load_library(files("dga2d.domains.fssp"))


class FlowShop:
    """The permutation flow shop scheduling problem, makespan objective."""

    name = "fssp"
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
        return pipeline(_library(), *ILS_PIPELINE)

    def generated(self) -> tuple[InstanceRef, ...]:
        """Taillard's 110 instances; their published files hold the same numbers."""
        refs = (
            InstanceRef(self.name, FOLDER, name, None, reference_of("taillard.json", name, entry))
            for name, entry in taillard.table().items()
        )
        return _grouped(refs)

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        """Files below ``data_dir/fssp``; those of Taillard's folder are grouped by size."""
        return _grouped(list_instances(self.name, data_dir / self.name, reader.SUFFIXES))

    def load(self, ref: InstanceRef) -> Instance:
        if ref.path is not None:
            data = reader.read_instance(ref.path)
        elif (seeds := taillard.table().get(ref.name)) is not None:
            data = taillard.generate(seeds["jobs"], seeds["machines"], seeds["time_seed"])
        else:
            raise InstanceFormatError(ref.key, None, "has no file and is not a generated instance")
        return Instance(self.name, ref.group, ref.name, {"times": data.times}, ref.reference)

    def smoke_instance(self) -> Instance:
        reference = Reference(float(smoke.BEST), "best_known", "best permutation of all")
        data = smoke.eight_by_four()
        return Instance(self.name, "smoke", "8x4", {"times": data.times}, reference)

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Fresh writable arrays: operators may scribble on them without harm to the instance."""
        return operator_environment(instance.data["times"])

    def decoder(self, environment: Mapping[str, Any]) -> Decoder:
        # numba takes a third of a second to import; only callers that decode pay for it
        from dga2d.domains.fssp.decoder import make_decoder

        return make_decoder(environment)

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_sequence(instance.data["times"], state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Start times per job; the format is described in :mod:`dga2d.domains.fssp.solution`."""
        verdict = self.verify(instance, state)
        if verdict.objective is None:
            raise InvalidSolutionError(verdict.violation)
        starts = schedule(instance.data["times"], state.sequence)
        return schedule_text(instance.key, START_TIMES, starts, int(verdict.objective))

    def picture(self, instance: Instance, state: State) -> Figure:
        """Gantt chart; raises InvalidSolutionError for a broken state."""
        from dga2d.domains.fssp.picture import picture

        return picture(instance, state)

    def cp_sat(self, instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
        """CP-SAT; needs the package ``ortools``."""
        from dga2d.domains.fssp.cp_sat import solve

        return solve(instance, time_limit_s, seed, workers)


def _grouped(refs: Iterable[InstanceRef]) -> tuple[InstanceRef, ...]:
    """`refs` sorted by key, those of Taillard's folder moved to the group of their size."""
    moved = (
        replace(ref, group=taillard.group_of(ref.name) or ref.group) if ref.group == FOLDER else ref
        for ref in refs
    )
    return tuple(sorted(moved, key=lambda ref: ref.key))
