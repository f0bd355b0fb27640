"""Flow shop scheduling as a :class:`~dga2d.domains.contract.Domain`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from dga2d.domains.contract import Card, Instance, InstanceRef, Reference, State, Verdict
from dga2d.domains.errors import InstanceFormatError
from dga2d.domains.feasible import require_feasible
from dga2d.domains.fssp import reader, smoke, taillard
from dga2d.domains.fssp.card import CARD, INVALID_SCORE
from dga2d.domains.fssp.environment import operator_environment
from dga2d.domains.fssp.solution import START_TIMES
from dga2d.domains.fssp.verifier import schedule, verify_sequence
from dga2d.domains.library_domain import LibraryDomain
from dga2d.domains.published import list_instances, reference_of
from dga2d.domains.shops import schedule_text

FOLDER = "taillard"
"""Folder of Taillard's published files; their groups, as the DGA2D paper splits them, are the sizes."""


class FlowShop(LibraryDomain):
    """The permutation flow shop scheduling problem, makespan objective."""

    name = "fssp"
    card: Card = CARD
    sense: Literal["min", "max"] = "min"
    invalid_score = float(INVALID_SCORE)
    safe_pipeline = ("neh_reinsertion", "iterated_greedy", "machine_order_tabu")
    basic_pipeline = ("neh", "simulated_annealing")
    ils_pipeline = ("neh", "iterated_local_search")

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

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_sequence(instance.data["times"], state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Start times per job; the format is described in :mod:`dga2d.domains.fssp.solution`."""
        objective = require_feasible(self.verify(instance, state))
        starts = schedule(instance.data["times"], state.sequence)
        return schedule_text(instance.key, START_TIMES, starts, int(objective))


def _grouped(refs: Iterable[InstanceRef]) -> tuple[InstanceRef, ...]:
    """`refs` sorted by key, those of Taillard's folder moved to the group of their size."""
    moved = (
        replace(ref, group=taillard.group_of(ref.name) or ref.group) if ref.group == FOLDER else ref
        for ref in refs
    )
    return tuple(sorted(moved, key=lambda ref: ref.key))
