"""Three-dimensional bin packing as a :class:`~dga2d.domains.core.contract.Domain`.

The instance on which new implementations are tried.

Nine slabs in bins of 10³, of which only two go into one bin, and seven small boxes to fill the gaps: five
bins, one more than the simple bounds say, so that a search for fewer bins never ends at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dga2d.domains.binpack3d import generator, suite
from dga2d.domains.binpack3d.reader import BinPackingData
from dga2d.domains.binpack3d.verifier import solution_text_of, verify_sequence
from dga2d.domains.core.contract import Instance, InstanceRef, State, Verdict, require_feasible
from dga2d.domains.core.instance_data import fields_of
from dga2d.domains.core.library import LibraryDomain


class BinPacking(LibraryDomain):
    """Three-dimensional bin packing without rotation; few bins first, then a full last bin."""

    safe_pipeline = ("volume_order", "goal_driven_search", "last_bin_filling")
    basic_pipeline = ("volume_order", "sequence_annealing")
    ils_pipeline = ("volume_order", "iterated_sequence_search")

    def generated(self) -> tuple[InstanceRef, ...]:
        """Return the eight classes of Martello, Pisinger and Vigo: 720 instances in nine groups by size."""
        return suite.generated_refs()

    def regenerated(self) -> tuple[InstanceRef, ...]:
        """Return the 720 instances that Martello, Pisinger and Vigo published, with their own numbers."""
        return suite.published_refs()

    def generate(self, ref: InstanceRef) -> Mapping[str, Any] | None:
        made = suite.find_generated(ref.group, ref.name)
        return None if made is None else fields_of(made.data())

    def smoke_instance(self) -> Instance:
        return Instance(self.name, "smoke", "sixteen_boxes", fields_of(sixteen_boxes()))

    def rehearsal_data(self) -> Mapping[str, Any]:
        return fields_of(generator.generate(5, 50, 99))

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_sequence(instance.data["bin_size"], instance.data["item_sizes"], state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Return the text with bin and place of each item; the format is described in
        :mod:`dga2d.domains.binpack3d.verifier`.
        """
        objective = require_feasible(self.verify(instance, state))
        sizes = instance.data["bin_size"], instance.data["item_sizes"]
        return solution_text_of(instance.key, *sizes, state.sequence, objective)


_ITEMS = (
    (6, 6, 4),
    (7, 6, 4),
    (6, 7, 4),
    (8, 6, 4),
    (6, 8, 4),
    (7, 7, 4),
    (6, 6, 4),
    (6, 9, 4),
    (9, 6, 4),
    (3, 10, 5),
    (4, 3, 6),
    (10, 3, 8),
    (2, 5, 7),
    (10, 10, 2),
    (4, 4, 10),
    (5, 2, 2),
)


def sixteen_boxes() -> BinPackingData:
    """Return the bin and items."""
    return BinPackingData(np.full(3, 10, np.int32), np.array(_ITEMS, dtype=np.int32))
