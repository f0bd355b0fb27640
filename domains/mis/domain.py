"""Maximum independent set as a :class:`~dga2d.domains.core.contract.Domain`.

The instance on which new implementations are tried: the covering problem of the triple system of order 9.

References
----------
C. Mannino, A. Sassano, Solving hard set covering problems, Operations Research Letters 18, 1995.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

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
from dga2d.domains.mis import reader, suite
from dga2d.domains.mis.card import CARD, INVALID_SCORE
from dga2d.domains.mis.constructions import A9, steiner
from dga2d.domains.mis.reader import operator_environment
from dga2d.domains.mis.verifier import selected, set_text, verify_vector


class IndependentSet(LibraryDomain):
    """The maximum independent set problem; `Instance.data` holds ``adjacency`` alone."""

    name = "mis"
    card: Card = CARD
    sense: Literal["min", "max"] = "max"
    invalid_score = float(INVALID_SCORE)
    safe_pipeline = ("min_degree_greedy", "phased_local_search", "edge_weighting_cover")
    basic_pipeline = ("min_degree_greedy", "two_improvement", "simulated_annealing")
    ils_pipeline = ("min_degree_greedy", "iterated_two_improvement")

    def generated(self) -> tuple[InstanceRef, ...]:
        """Constructions that equal DIMACS graphs, and Model RB graphs with BHOSLIB's parameters."""
        return suite.generated_refs()

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        return list_instances(self.name, data_dir / self.name, reader.SUFFIXES)

    def load(self, ref: InstanceRef) -> Instance:
        if ref.path is not None:
            adjacency = reader.read_graph(ref.path)
        elif (made := suite.instances().get((ref.group, ref.name))) is not None:
            adjacency = made.graph()
        else:
            raise InstanceFormatError(ref.key, None, "has no file and is not a generated instance")
        return _instance(ref.group, ref.name, adjacency, ref.reference)

    def smoke_instance(self) -> Instance:
        reference = Reference(float(SMOKE_OPTIMUM), "optimal", "Fulkerson and others 1974")
        return _instance("constructions", "MANN_a9", nine_points(), reference)

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Fresh writable arrays: operators may scribble on them without harm to the instance."""
        return operator_environment(instance.data["adjacency"], instance.name)

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_vector(instance.data["adjacency"], state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """The vertices of the set; the format is described in :mod:`dga2d.domains.mis.verifier`."""
        require_feasible(self.verify(instance, state))
        return set_text(instance.key, selected(state.sequence))


def _instance(group: str, name: str, adjacency: NDArray[np.uint8], reference: Reference | None) -> Instance:
    adjacency.setflags(write=False)
    return Instance("mis", group, name, {"adjacency": adjacency}, reference)


SMOKE_OPTIMUM = 16
"""Twelve triples, and four points that contain none of them."""


def nine_points() -> NDArray[np.uint8]:
    """Graph of 45 vertices and 72 edges (``MANN_a9``)."""
    return steiner(A9, 9)
