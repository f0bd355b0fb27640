"""Reader, decoder, verifier and operators together: a :class:`dga2d.domains.core.contract.Domain`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from dga2d.domains.core.contract import (
    Card,
    Instance,
    InstanceRef,
    Reference,
    State,
    Verdict,
    require_feasible,
)
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.library import LibraryDomain
from dga2d.domains.core.published import list_instances
from dga2d.domains.skeleton.card import CARD, INVALID_SCORE, NAME
from dga2d.domains.skeleton.generator import generated_items, generated_refs
from dga2d.domains.skeleton.reader import Items, operator_environment, read_instance
from dga2d.domains.skeleton.verifier import packing_text, verify_packing

SUFFIXES = (".txt", ".kp")
"""Endings of instance files."""


class Problem(LibraryDomain):
    """The 0/1 knapsack problem; `Instance.data` holds ``items``.

    The base class takes operators from ``library.toml``, the decoder from ``decoder.py``, and a picture and a
    model for OR-Tools from ``picture.py`` and ``cp_sat.py`` where these are there.
    """

    name = NAME
    card: Card = CARD
    sense: Literal["min", "max"] = "max"
    invalid_score = float(INVALID_SCORE)
    safe_pipeline = ("density_order", "swap_descent")
    basic_pipeline = ("density_order", "swap_descent")
    ils_pipeline = ("density_order", "iterated_swaps")

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

    def verify(self, instance: Instance, state: State) -> Verdict:
        """The independent check, in plain Python."""
        return verify_packing(self.environment(instance), state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """The packed items; raises InvalidSolutionError where the state is broken."""
        value = require_feasible(self.verify(instance, state))
        return packing_text(instance.key, self.environment(instance), state, int(value))


SMOKE_OPTIMUM: Final = 100


def smoke_items() -> Items:
    """Six items, capacity 10: items 1 and 2 are best, but item 0 is the densest."""
    values = np.array([66, 50, 50, 24, 20, 9], dtype=np.int32)
    weights = np.array([6, 5, 5, 4, 3, 2], dtype=np.int32)
    return Items(10, values, weights)
