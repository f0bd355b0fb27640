"""Resource-constrained project scheduling as a :class:`~dga2d.domains.core.contract.Domain`.

The instance on which new implementations are tried: eight activities and two resources, optimum 16.

The longest path takes 13 and the work on the first resource at least 14 periods, so that no search stops
early at these bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dga2d.domains.core.contract import Instance, InstanceRef, Reference, State, Verdict, require_feasible
from dga2d.domains.core.library import LibraryDomain
from dga2d.domains.rcpsp import progen, reader
from dga2d.domains.rcpsp.project import Project
from dga2d.domains.rcpsp.reader import operator_environment
from dga2d.domains.rcpsp.verifier import project_schedule_text, verify_sequence

_REHEARSED = progen.Design("rehearsal", "ordinary", 60, 1.8, 0.75, 0.35, 47_110_815)


class ProjectScheduling(LibraryDomain):
    """The resource-constrained project scheduling problem, makespan objective.

    `Instance.data` holds the arrays of a :class:`~dga2d.domains.rcpsp.project.Project`.
    """

    safe_pipeline = ("justified_sampling", "genetic_search", "ruin_and_recreate")
    basic_pipeline = ("priority_rules", "simulated_annealing")
    ils_pipeline = ("priority_rules", "iterated_local_search")

    def generated(self) -> tuple[InstanceRef, ...]:
        """Return ProGen-style projects of 30 to 120 activities, with references by CP-SAT or the library."""
        return progen.generated_refs()

    def read(self, path: Path) -> Mapping[str, Any]:
        return reader.read_instance(path).data()

    def generate(self, ref: InstanceRef) -> Mapping[str, Any] | None:
        design = progen.find_design(ref.key)
        return None if design is None else design.project().data()

    def smoke_instance(self) -> Instance:
        reference = Reference(float(SMOKE_OPTIMUM), "optimal", "CP-SAT")
        return Instance(self.name, "smoke", "eight", eight_activities().data(), reference)

    def rehearsal_data(self) -> Mapping[str, Any]:
        return _REHEARSED.project().data()

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Return fresh, writable arrays: operators may scribble on them without harm to the instance."""
        return operator_environment(instance.data)

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_sequence(instance.data, state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Start times; the format is described in :mod:`dga2d.domains.rcpsp.verifier`."""
        require_feasible(self.verify(instance, state))
        return project_schedule_text(instance.key, instance.data, state)


SMOKE_OPTIMUM = 16

_DURATIONS = (0, 4, 3, 5, 2, 4, 3, 2, 5, 0)
_REQUESTS = ((0, 0), (2, 1), (3, 0), (1, 2), (2, 2), (3, 1), (1, 3), (2, 0), (2, 2), (0, 0))
_CAPACITIES = (4, 4)
_EDGES = (
    (0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (2, 5), (3, 6), (4, 7), (5, 9), (6, 8), (7, 9), (8, 9),
)  # fmt: skip


def eight_activities() -> Project:
    """Return the durations, requests, capacities and edges of the instance."""
    return Project(
        np.array(_DURATIONS, np.int32),
        np.array(_REQUESTS, np.int32),
        np.array(_CAPACITIES, np.int32),
        np.array(_EDGES, np.int32),
    )
