"""Three-dimensional bin packing as a :class:`~dga2d.domains.contract.Domain`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from dga2d.domains.binpack3d import reader, smoke, suite
from dga2d.domains.binpack3d.card import CARD, INVALID_SCORE
from dga2d.domains.binpack3d.environment import operator_environment
from dga2d.domains.binpack3d.solution import solution_text_of
from dga2d.domains.binpack3d.verifier import verify_sequence
from dga2d.domains.contract import Card, Instance, InstanceRef, Reference, State, Verdict
from dga2d.domains.errors import InstanceFormatError
from dga2d.domains.feasible import require_feasible
from dga2d.domains.library_domain import LibraryDomain
from dga2d.domains.published import list_instances


class BinPacking(LibraryDomain):
    """Three-dimensional bin packing without rotation; few bins first, then a full last bin."""

    name = "binpack3d"
    card: Card = CARD
    sense: Literal["min", "max"] = "min"
    invalid_score = INVALID_SCORE
    safe_pipeline = ("volume_order", "goal_driven_search", "last_bin_filling")
    basic_pipeline = ("volume_order", "sequence_annealing")
    ils_pipeline = ("volume_order", "iterated_sequence_search")

    def generated(self) -> tuple[InstanceRef, ...]:
        """The eight classes of Martello, Pisinger and Vigo: 720 instances in nine groups by size."""
        return suite.generated_refs()

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        return list_instances(self.name, data_dir / self.name, reader.SUFFIXES)

    def load(self, ref: InstanceRef) -> Instance:
        if ref.path is not None:
            data = reader.read_instance(ref.path)
        elif (generated := suite.find_generated(ref.group, ref.name)) is not None:
            data = generated.data()
        else:
            raise InstanceFormatError(ref.key, None, "has no file and is not a generated instance")
        return self._instance(ref.group, ref.name, data, ref.reference)

    def smoke_instance(self) -> Instance:
        return self._instance("smoke", "sixteen_boxes", smoke.sixteen_boxes(), None)

    def _instance(
        self, group: str, name: str, data: reader.BinPackingData, reference: Reference | None
    ) -> Instance:
        arrays = {"bin_size": data.bin_size, "item_sizes": data.item_sizes}
        return Instance(self.name, group, name, arrays, reference)

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Fresh writable arrays: operators may scribble on them without harm to the instance."""
        return operator_environment(instance.data["bin_size"], instance.data["item_sizes"])

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_sequence(instance.data["bin_size"], instance.data["item_sizes"], state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Bin and place of each item; the format is described in :mod:`dga2d.domains.binpack3d.solution`."""
        objective = require_feasible(self.verify(instance, state))
        sizes = instance.data["bin_size"], instance.data["item_sizes"]
        return solution_text_of(instance.key, *sizes, state.sequence, objective)
