"""Maximum independent set as a :class:`~dga2d.domains.core.contract.Domain`.

The instance on which new implementations are tried: the covering problem of the triple system of order 9.

References
----------
C. Mannino, A. Sassano, Solving hard set covering problems, Operations Research Letters 18, 1995.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance, InstanceRef, Reference, State, Verdict, require_feasible
from dga2d.domains.core.library import LibraryDomain
from dga2d.domains.mis import model_rb, reader, suite
from dga2d.domains.mis.constructions import A9, steiner
from dga2d.domains.mis.verifier import selected, set_text, verify_vector


class IndependentSet(LibraryDomain):
    """The maximum independent set problem; `Instance.data` holds ``adjacency`` alone."""

    sense: Literal["min", "max"] = "max"
    safe_pipeline = ("min_degree_greedy", "phases_and_cover")
    basic_pipeline = ("min_degree_greedy", "two_improvement", "simulated_annealing")
    ils_pipeline = ("min_degree_greedy", "iterated_two_improvement")

    def generated(self) -> tuple[InstanceRef, ...]:
        """Return constructions that equal DIMACS graphs, and Model RB graphs with BHOSLIB's parameters."""
        return suite.generated_refs()

    def read(self, path: Path) -> Mapping[str, Any]:
        return _data(reader.read_graph(path))

    def generate(self, ref: InstanceRef) -> Mapping[str, Any] | None:
        made = suite.instances().get((ref.group, ref.name))
        return None if made is None else _data(made.graph())

    def smoke_instance(self) -> Instance:
        reference = Reference(float(SMOKE_OPTIMUM), "optimal", "Fulkerson and others 1974")
        return Instance(self.name, "constructions", "MANN_a9", _data(nine_points()), reference)

    def rehearsal_data(self) -> Mapping[str, Any]:
        return _data(model_rb.model_rb(20, 12, random.Random(4711)).adjacency)

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_vector(instance.data["adjacency"], state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Return the text with the vertices of the set; the format is described in
        :mod:`dga2d.domains.mis.verifier`.
        """
        require_feasible(self.verify(instance, state))
        return set_text(instance.key, selected(state.sequence))


def _data(adjacency: NDArray[np.uint8]) -> Mapping[str, Any]:
    adjacency.setflags(write=False)
    return {"adjacency": adjacency}


SMOKE_OPTIMUM = 16
"""Twelve triples, and four points that contain none of them."""


def nine_points() -> NDArray[np.uint8]:
    """Return the graph of 45 vertices and 72 edges (``MANN_a9``)."""
    return steiner(A9, 9)
