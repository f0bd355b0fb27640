"""Maximum cut as a :class:`~dga2d.domains.contract.Domain`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from dga2d.domains.contract import Card, Instance, InstanceRef, Reference, State, Verdict
from dga2d.domains.errors import InstanceFormatError
from dga2d.domains.feasible import require_feasible
from dga2d.domains.library_domain import LibraryDomain
from dga2d.domains.maxcut import gset, reader, smoke
from dga2d.domains.maxcut.card import CARD, INVALID_SCORE
from dga2d.domains.maxcut.environment import operator_environment
from dga2d.domains.maxcut.graph import WeightedGraph
from dga2d.domains.maxcut.solution import sides_text
from dga2d.domains.maxcut.verifier import verify_sides
from dga2d.domains.published import list_instances


class MaxCut(LibraryDomain):
    """The maximum cut problem; `Instance.data` holds ``n_vertices``, ``edges`` and ``weights``."""

    name = "maxcut"
    card: Card = CARD
    sense: Literal["min", "max"] = "max"
    invalid_score = float(INVALID_SCORE)
    safe_pipeline = ("greedy_construction", "partition_crossover_annealing")
    basic_pipeline = ("greedy_construction", "simulated_annealing")
    ils_pipeline = ("greedy_construction", "iterated_local_search")

    def generated(self) -> tuple[InstanceRef, ...]:
        """41 graphs of the G-set; their published files hold the same edges."""
        return gset.generated_refs()

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        """As in the contract; what the table leaves out is looked up in the G-set by the file's name."""
        refs = list_instances(self.name, data_dir / self.name, reader.SUFFIXES, needs_table=False)
        return tuple(
            replace(ref, reference=ref.reference or gset.reference_of_name(ref.name)) for ref in refs
        )

    def load(self, ref: InstanceRef) -> Instance:
        if ref.path is not None:
            return self._instance(ref.group, ref.name, reader.read_instance(ref.path), ref.reference)
        graph = gset.generate(ref.name) if ref.group == gset.GROUP else None
        if graph is None:
            raise InstanceFormatError(ref.key, None, "has no file and is not a generated instance")
        return self._instance(ref.group, ref.name, graph, ref.reference)

    def smoke_instance(self) -> Instance:
        reference = Reference(float(smoke.OPTIMUM), "optimal", "all 512 cuts counted")
        return self._instance("smoke", "petersen", smoke.petersen(), reference)

    def _instance(self, group: str, name: str, graph: WeightedGraph, reference: Reference | None) -> Instance:
        fields = {"n_vertices": graph.n_vertices, "edges": graph.edges, "weights": graph.weights}
        return Instance(self.name, group, name, fields, reference)

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Fresh writable arrays: operators may scribble on them without harm to the instance."""
        return operator_environment(**instance.data)

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_sides(**instance.data, state=state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """The side of each vertex; the format is described in :mod:`dga2d.domains.maxcut.solution`."""
        objective = require_feasible(self.verify(instance, state))
        return sides_text(instance.key, state.sequence, int(objective))
