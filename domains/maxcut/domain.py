"""Maximum cut as a :class:`~dga2d.domains.core.contract.Domain`.

The instance for trying new implementations: the Petersen graph with two heavy edges and a negative one.

A graph of ten vertices, so that all 512 cuts can be counted (the tests do): the heaviest weighs 13.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dga2d.domains.core.contract import Instance, InstanceRef, Reference, State, Verdict, require_feasible
from dga2d.domains.core.instance_data import fields_of
from dga2d.domains.core.library import LibraryDomain
from dga2d.domains.core.published import list_instances
from dga2d.domains.maxcut import gset, suite
from dga2d.domains.maxcut.graph import WeightedGraph
from dga2d.domains.maxcut.rudy import random_graph
from dga2d.domains.maxcut.verifier import sides_text, verify_sides


class MaxCut(LibraryDomain):
    """The maximum cut problem; `Instance.data` holds ``n_vertices``, ``edges`` and ``weights``."""

    sense: Literal["min", "max"] = "max"
    safe_pipeline = ("greedy_construction", "partition_crossover_annealing")
    basic_pipeline = ("greedy_construction", "simulated_annealing")
    ils_pipeline = ("greedy_construction", "iterated_local_search")

    def generated(self) -> tuple[InstanceRef, ...]:
        """Return 41 graphs of the G-set, whose published files hold the same edges, and others of its
        families.
        """
        return suite.generated_refs()

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        """As in the contract; what the table leaves out is looked up in the G-set by the file's name."""
        refs = list_instances(self.name, data_dir / self.name, self.suffixes, needs_table=False)
        return tuple(
            replace(ref, reference=ref.reference or gset.reference_of_name(ref.name)) for ref in refs
        )

    def generate(self, ref: InstanceRef) -> Mapping[str, Any] | None:
        graph = suite.generate(ref.group, ref.name)
        return None if graph is None else fields_of(graph)

    def smoke_instance(self) -> Instance:
        reference = Reference(float(SMOKE_OPTIMUM), "optimal", "all 512 cuts counted")
        return Instance(self.name, "smoke", "petersen", fields_of(petersen()), reference)

    def rehearsal_data(self) -> Mapping[str, Any]:
        return fields_of(random_graph(400, 6, 47_110_815).frozen())

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_sides(**instance.data, state=state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Return the text with the side of each vertex; the format is described in
        :mod:`dga2d.domains.maxcut.verifier`.
        """
        objective = require_feasible(self.verify(instance, state))
        return sides_text(instance.key, state.sequence, int(objective))


SMOKE_OPTIMUM = 13


def petersen() -> WeightedGraph:
    """Return the graph with outer circle 0-4 and inner star 5-9; edges 0-1 and 5-7 weigh 2, edge 3-8 weighs
    -1, the others
    1.
    """
    outer = [(v, (v + 1) % 5) for v in range(5)]
    spokes = [(v, v + 5) for v in range(5)]
    inner = [(5 + v, 5 + (v + 2) % 5) for v in range(5)]
    edges = np.array([(min(e), max(e)) for e in outer + spokes + inner], dtype=np.int32)
    weights = np.ones(15, dtype=np.int32)
    weights[0] = weights[10] = 2
    weights[8] = -1
    return WeightedGraph(10, edges, weights)
