"""Reader, decoder, verifier and operators together: a :class:`dga2d.domains.core.contract.Domain`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from dga2d.domains.core.contract import (
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
from dga2d.domains.core.errors import InstanceFormatError, InvalidSolutionError
from dga2d.domains.core.library import load_library, pipeline
from dga2d.domains.core.published import list_instances
from dga2d.domains.skeleton.card import CARD, INVALID_SCORE, NAME
from dga2d.domains.skeleton.generator import generated_items, generated_refs
from dga2d.domains.skeleton.reader import Items, operator_environment, read_instance
from dga2d.domains.skeleton.verifier import packing_text, verify_packing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAFE_PIPELINE = ("density_order", "swap_descent")
BASIC_PIPELINE = ("density_order", "swap_descent")
ILS_PIPELINE = ("density_order", "iterated_swaps")
SUFFIXES = (".txt", ".kp")
"""Endings of instance files."""


@cache
def _library() -> tuple[Operator, ...]:
    return load_library(Path(__file__).parent)


class Problem:
    """The 0/1 knapsack problem; `Instance.data` holds ``items``."""

    name = NAME
    card: Card = CARD
    sense: Literal["min", "max"] = "max"
    invalid_score = float(INVALID_SCORE)

    def operators(self) -> tuple[Operator, ...]:
        """The library: ``library.toml`` and the files it names."""
        return _library()

    def safe_baseline(self) -> tuple[PipelineStep, ...]:
        """What a user gets without any evolution."""
        return pipeline(_library(), *SAFE_PIPELINE)

    def basic_baseline(self) -> tuple[PipelineStep, ...]:
        """The same out of the basic tier alone."""
        return pipeline(_library(), *BASIC_PIPELINE)

    def ils_baseline(self) -> tuple[PipelineStep, ...]:
        """A classical iterated local search."""
        return pipeline(_library(), *ILS_PIPELINE)

    def generated(self) -> tuple[InstanceRef, ...]:
        """Instances made without any download."""
        return generated_refs()

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        """Files ``<name>/<group>/<file>`` below the folder, best-known values in ``<name>/bks.json``."""
        return list_instances(self.name, data_dir / self.name, SUFFIXES)

    def load(self, ref: InstanceRef) -> Instance:
        """Generate or read one instance."""
        items = generated_items(ref) if ref.path is None else read_instance(ref.path)
        if items is None:
            raise InstanceFormatError(ref.key, None, "has no file and is not a generated instance")
        return self._instance(ref.group, ref.name, items, ref.reference)

    def smoke_instance(self) -> Instance:
        """A few items, for trial runs of new code."""
        reference = Reference(float(SMOKE_OPTIMUM), "optimal", "all packings compared by hand")
        return self._instance("smoke", "six", smoke_items(), reference)

    def _instance(self, group: str, name: str, items: Items, reference: Reference | None) -> Instance:
        return Instance(self.name, group, name, {"items": items}, reference)

    def environment(self, instance: Instance) -> dict[str, Any]:
        """The keys of the card."""
        return operator_environment(instance.data["items"])

    def decoder(self, environment: Mapping[str, Any]) -> Decoder:
        """The compiled decoder."""
        # numba takes a third of a second to import; only callers that decode pay for it
        from dga2d.domains.skeleton.decoder import make_decoder

        return make_decoder(environment)

    def verify(self, instance: Instance, state: State) -> Verdict:
        """The independent check, in plain Python."""
        return verify_packing(self.environment(instance), state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """The packed items; raises InvalidSolutionError where the state is broken."""
        value = self._verified(instance, state)
        return packing_text(instance.key, self.environment(instance), state, value)

    def picture(self, instance: Instance, state: State) -> Figure:
        """Weight against value of all items; needs the optional package matplotlib."""
        from dga2d.domains.skeleton.picture import picture

        value = self._verified(instance, state)
        return picture(f"{instance.key}: value {value}", self.environment(instance), state)

    def cp_sat(self, instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
        """The best packing OR-Tools finds in time; needs the optional package ortools."""
        from dga2d.domains.skeleton.cp_sat import solve

        return solve(self.environment(instance), time_limit_s, seed, workers)

    def _verified(self, instance: Instance, state: State) -> int:
        verdict = self.verify(instance, state)
        if verdict.objective is None:
            raise InvalidSolutionError(verdict.violation)
        return int(verdict.objective)


SMOKE_OPTIMUM: Final = 100


def smoke_items() -> Items:
    """Six items, capacity 10: items 1 and 2 are best, but item 0 is the densest."""
    values = np.array([66, 50, 50, 24, 20, 9], dtype=np.int32)
    weights = np.array([6, 5, 5, 4, 3, 2], dtype=np.int32)
    return Items(10, values, weights)
