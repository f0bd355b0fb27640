"""Simple assembly line balancing, type 1, as a :class:`~dga2d.domains.core.contract.Domain`.

The instance on which new implementations are tried: Jackson's 11 tasks with cycle time 7, optimum 8.

The bin-packing bound is 7, so that no operator finds its work done before it has begun.

References
----------
J. R. Jackson, A computing procedure for a line balancing problem, Management Science 2, 1956.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dga2d.domains.core.contract import Instance, InstanceRef, Reference, State, Verdict, require_feasible
from dga2d.domains.core.instance_data import fields_of
from dga2d.domains.core.library import LibraryDomain
from dga2d.domains.salbp1 import generator
from dga2d.domains.salbp1.line import LineData
from dga2d.domains.salbp1.verifier import line_of, line_text, verify_sequence

GENERATED_GROUP = "small"

_REHEARSED = generator.Setting(50, 0.6, "mixed", "bimodal", 47_110_815)


class AssemblyLine(LibraryDomain):
    """Assembly line balancing with a fixed cycle time; the number of stations is minimised."""

    safe_pipeline = ("priority_rules", "branch_bound_remember", "tabu_station_elimination")
    basic_pipeline = ("priority_rules", "station_annealing")
    ils_pipeline = ("priority_rules", "iterated_station_search")

    def generated(self) -> tuple[InstanceRef, ...]:
        """Return the small set of 525 lines with 20 tasks; all references are proven optima."""
        source, optima = generator.reference_table()
        return tuple(
            InstanceRef(self.name, GENERATED_GROUP, name, None, Reference(float(optimum), "optimal", source))
            for name, optimum in sorted(optima.items())
        )

    def generate(self, ref: InstanceRef) -> Mapping[str, Any] | None:
        setting = generator.small_set().get(ref.name)
        return None if setting is None else fields_of(generator.generate(setting))

    def smoke_instance(self) -> Instance:
        reference = Reference(float(SMOKE_OPTIMUM), "optimal", "Scholl and Becker 2006; proven by CP-SAT")
        return Instance(self.name, "smoke", "jackson", fields_of(jackson()), reference)

    def rehearsal_data(self) -> Mapping[str, Any]:
        return fields_of(generator.generate(_REHEARSED))

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_sequence(**instance.data, state=state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Return the text with the tasks per station; the format is described in
        :mod:`dga2d.domains.salbp1.verifier`.
        """
        require_feasible(self.verify(instance, state))
        stations = line_of(**instance.data, sequence=state.sequence)
        return line_text(instance.key, instance.data["cycle_time"], stations)


SMOKE_OPTIMUM = 8

_CYCLE_TIME = 7
_TIMES = (6, 2, 5, 7, 1, 2, 3, 6, 5, 5, 4)
_EDGES = (
    (0, 1),
    (0, 2),
    (0, 3),
    (0, 4),
    (1, 5),
    (2, 6),
    (3, 6),
    (4, 6),
    (5, 7),
    (6, 8),
    (7, 9),
    (8, 10),
    (9, 10),
)


def jackson() -> LineData:
    """Return Jackson's line."""
    return LineData(_CYCLE_TIME, np.array(_TIMES, dtype=np.int32), np.array(_EDGES, dtype=np.int32))
