"""Container loading as a :class:`~dga2d.domains.core.contract.Domain`.

The instance on which new implementations are tried: a container of 12 × 10 × 10 and 24 boxes of 5
types.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from dga2d.domains.clp3d import generator, suite
from dga2d.domains.clp3d.reader import BoxType, ContainerData, container_data, operator_environment
from dga2d.domains.clp3d.verifier import solution_text_of, verify_sequence
from dga2d.domains.core.contract import Instance, InstanceRef, State, Verdict, require_feasible
from dga2d.domains.core.instance_data import fields_of
from dga2d.domains.core.library import LibraryDomain


class ContainerLoading(LibraryDomain):
    """Loading of a single container; the objective is the fill rate in percent."""

    sense: Literal["min", "max"] = "max"
    safe_pipeline = ("type_orders", "run_annealing")
    basic_pipeline = ("volume_order", "sequence_annealing")
    ils_pipeline = ("volume_order", "iterated_sequence_search")

    def generated(self) -> tuple[InstanceRef, ...]:
        """Return the first ten problems of each class BR1 to BR15, equal to the published ones."""
        return suite.generated_refs()

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        """Return every problem of every file; the file's stem is the group."""
        return suite.published_refs(data_dir / self.name)

    def load(self, ref: InstanceRef) -> Instance:
        return Instance(self.name, ref.group, ref.name, fields_of(suite.load_data(ref)), ref.reference)

    def smoke_instance(self) -> Instance:
        return Instance(self.name, "smoke", "small_load", fields_of(small_load()))

    def rehearsal_data(self) -> Mapping[str, Any]:
        return fields_of(generator.generate(6, 1001).data)

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Return fresh, writable arrays: operators may scribble on them without harm to the instance."""
        return operator_environment(ContainerData(**instance.data))

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_sequence(*_arrays(instance), state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Return the text with the place of each item; the format is described in
        :mod:`dga2d.domains.clp3d.verifier`.
        """
        objective = require_feasible(self.verify(instance, state))
        return solution_text_of(instance.key, *_arrays(instance), state.sequence, objective)


def _arrays(instance: Instance) -> tuple[Any, Any, Any]:
    data = instance.data
    return data["bin_size"], data["item_sizes"], data["orientation_allowed"]


_TYPES = (
    BoxType((6, 5, 5), (1, 1, 1), 6),
    BoxType((4, 3, 2), (0, 1, 1), 6),
    BoxType((8, 4, 3), (0, 0, 1), 4),
    BoxType((5, 4, 4), (1, 0, 1), 5),
    BoxType((10, 3, 2), (0, 1, 1), 3),
)


def small_load() -> ContainerData:
    """Return the container and items."""
    return container_data((12, 10, 10), _TYPES)
