"""Reader, decoder, verifier and operators together: a :class:`dga2d.domains.core.contract.Domain`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from dga2d.domains.core.contract import Instance, InstanceRef, Reference, State, Verdict, require_feasible
from dga2d.domains.core.library import LibraryDomain
from dga2d.domains.skeleton.card import CARD, INVALID_SCORE, NAME
from dga2d.domains.skeleton.generator import generated_items, generated_refs
from dga2d.domains.skeleton.reader import Items, operator_environment, read_instance
from dga2d.domains.skeleton.verifier import packing_text, verify_packing


class Problem(LibraryDomain):
    """The 0/1 knapsack problem; `Instance.data` holds ``items``.

    The base class takes operators from ``library.toml``, the decoder from ``decoder.py``, and a picture and a
    model for OR-Tools from ``picture.py`` and ``cp_sat.py`` where these are there.
    """

    name = NAME
    card = CARD
    sense: Literal["min", "max"] = "max"
    invalid_score = float(INVALID_SCORE)
    safe_pipeline = ("density_order", "swap_descent")
    basic_pipeline = ("density_order", "swap_descent")
    ils_pipeline = ("density_order", "iterated_swaps")
    suffixes = (".txt", ".kp")

    def generated(self) -> tuple[InstanceRef, ...]:
        """Return the instances made without any download."""
        return generated_refs()

    def read(self, path: Path) -> Mapping[str, Any]:
        """Return the data of the instance in a file."""
        return {"items": read_instance(path)}

    def generate(self, ref: InstanceRef) -> Mapping[str, Any] | None:
        """Return the data of a generated instance; ``None`` if it is none."""
        items = generated_items(ref)
        return None if items is None else {"items": items}

    def smoke_instance(self) -> Instance:
        """Return a few items, for trial runs of new code."""
        reference = Reference(float(SMOKE_OPTIMUM), "optimal", "all packings compared by hand")
        return Instance(self.name, "smoke", "six", {"items": smoke_items()}, reference)

    def rehearsal_instance(self) -> Instance:
        """Return an instance of ordinary size; these operators compile nothing, so the smallest will do."""
        return self.smoke_instance()

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Return the keys of the card."""
        return operator_environment(instance.data["items"])

    def verify(self, instance: Instance, state: State) -> Verdict:
        """Check a solution independently, in plain Python."""
        return verify_packing(self.environment(instance), state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Return the text with the packed items; raises InvalidSolutionError where the state is broken."""
        value = require_feasible(self.verify(instance, state))
        return packing_text(instance.key, self.environment(instance), state, int(value))


SMOKE_OPTIMUM: Final = 100


def smoke_items() -> Items:
    """Return six items, capacity 10: items 1 and 2 are best, but item 0 is the densest."""
    values = np.array([66, 50, 50, 24, 20, 9], dtype=np.int32)
    weights = np.array([6, 5, 5, 4, 3, 2], dtype=np.int32)
    return Items(10, values, weights)
