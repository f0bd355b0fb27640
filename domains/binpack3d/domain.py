"""Three-dimensional bin packing as a :class:`~dga2d.domains.contract.Domain`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dga2d.domains.binpack3d import reader, smoke, suite
from dga2d.domains.binpack3d.card import CARD, INVALID_SCORE
from dga2d.domains.binpack3d.environment import operator_environment
from dga2d.domains.binpack3d.solution import solution_text_of
from dga2d.domains.binpack3d.verifier import verify_sequence
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

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAFE_PIPELINE = ("volume_order", "goal_driven_search", "last_bin_filling")
BASIC_PIPELINE = ("volume_order", "sequence_annealing")
ILS_PIPELINE = ("volume_order", "iterated_sequence_search")


@cache
def _library() -> tuple[Operator, ...]:
    return load_library(files("dga2d.domains.binpack3d"))


class BinPacking:
    """Three-dimensional bin packing without rotation; few bins first, then a full last bin."""

    name = "binpack3d"
    card: Card = CARD
    sense: Literal["min", "max"] = "min"
    invalid_score = INVALID_SCORE

    def operators(self) -> tuple[Operator, ...]:
        return _library()

    def safe_baseline(self) -> tuple[PipelineStep, ...]:
        return pipeline(_library(), *SAFE_PIPELINE)

    def basic_baseline(self) -> tuple[PipelineStep, ...]:
        return pipeline(_library(), *BASIC_PIPELINE)

    def ils_baseline(self) -> tuple[PipelineStep, ...]:
        """Iterated local search: shake the sequence, descend by swaps and insertions, keep the better."""
        return pipeline(_library(), *ILS_PIPELINE)

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

    def decoder(self, environment: Mapping[str, Any]) -> Decoder:
        # numba takes a third of a second to import; only callers that decode pay for it
        from dga2d.domains.binpack3d.decoder import make_decoder

        return make_decoder(environment)

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_sequence(instance.data["bin_size"], instance.data["item_sizes"], state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Bin and place of each item; the format is described in :mod:`dga2d.domains.binpack3d.solution`."""
        verdict = self.verify(instance, state)
        if verdict.objective is None:
            raise InvalidSolutionError(verdict.violation)
        sizes = instance.data["bin_size"], instance.data["item_sizes"]
        return solution_text_of(instance.key, *sizes, state.sequence, verdict.objective)

    def picture(self, instance: Instance, state: State) -> Figure:
        """All bins in 3D; see :mod:`dga2d.domains.binpack3d.picture`."""
        from dga2d.domains.binpack3d.picture import picture

        return picture(instance, state)

    def cp_sat(self, instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
        """What OR-Tools finds; see :mod:`dga2d.domains.binpack3d.cp_sat`."""
        from dga2d.domains.binpack3d.cp_sat import solve

        return solve(instance, time_limit_s, seed, workers)
