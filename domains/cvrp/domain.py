"""The capacitated vehicle routing problem as a :class:`~dga2d.domains.core.contract.Domain`.

The instance on which new implementations are tried: the first published vehicle routing problem.

References
----------
G. B. Dantzig, J. H. Ramser, The truck dispatching problem, Management Science 6(1), 1959: twelve customers,
distances as a table; four trucks and 290 miles are optimal (they found 294).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from dga2d.domains.core.contract import Instance, InstanceRef, Reference, State, Verdict
from dga2d.domains.core.errors import InvalidSolutionError
from dga2d.domains.core.library import LibraryDomain
from dga2d.domains.cvrp import reader, suite
from dga2d.domains.cvrp.generator import Recipe, generate
from dga2d.domains.cvrp.reader import RoutingData, operator_environment
from dga2d.domains.cvrp.verifier import (
    distance_of,
    driven_routes,
    format_solution,
    limit_of,
    routes_of,
    verify_routes,
)
from dga2d.domains.shared.routing.tsplib import explicit_matrix

_REHEARSED = Recipe(100, "random", "half", "1-100", 8.0, 47_110_815)


class VehicleRouting(LibraryDomain):
    """The CVRP with a free number of routes; `Instance.data` holds ``routing``, a `reader.RoutingData`."""

    safe_pipeline = ("savings", "ruin_and_recreate")
    basic_pipeline = ("savings", "two_opt", "relocate_and_exchange", "simulated_annealing")
    ils_pipeline = ("savings", "iterated_local_search")

    def generated(self) -> tuple[InstanceRef, ...]:
        return suite.generated_refs()

    def read(self, path: Path) -> Mapping[str, Any]:
        return {"routing": reader.read_instance(path)}

    def generate(self, ref: InstanceRef) -> Mapping[str, Any] | None:
        found = suite.find_generated(ref.group, ref.name)
        return None if found is None else {"routing": generate(found.recipe)}

    def smoke_instance(self) -> Instance:
        reference = Reference(
            float(SMOKE_OPTIMUM),
            "optimal",
            "Dantzig and Ramser 1959; proven by dynamic programming over subsets",
        )
        return Instance(self.name, "smoke", "truck-dispatching", {"routing": truck_dispatching()}, reference)

    def rehearsal_data(self) -> Mapping[str, Any]:
        return {"routing": generate(_REHEARSED)}

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Return fresh, writable arrays: operators may scribble on them without harm to the instance."""
        return operator_environment(instance.data["routing"])

    def verify(self, instance: Instance, state: State) -> Verdict:
        data = instance.data["routing"]
        sequence = getattr(state, "sequence", None)
        return verify_routes(sequence, data.demands, data.capacity, distance_of(data), limit_of(data))

    def write_solution(self, instance: Instance, state: State) -> str:
        """Return the text of a ``.sol`` file; the format is described in
        :mod:`dga2d.domains.cvrp.verifier`.
        """
        verdict = self.verify(instance, state)
        routes = routes_of(state.sequence)
        if verdict.objective is None or isinstance(routes, str):
            raise InvalidSolutionError(f"{instance.key}: {verdict.violation}")
        return format_solution(driven_routes(routes, limit_of(instance.data["routing"])), verdict.objective)


SMOKE_OPTIMUM: Final = 290
CAPACITY: Final = 6000
_DEMANDS: Final = (0, 1200, 1700, 1500, 1400, 1700, 1400, 1200, 1900, 1800, 1600, 1700, 1100)
_UPPER_ROWS: Final = """
    9 14 21 23 22 25 32 36 38 42 50 52
    5 12 22 21 24 31 35 37 41 49 51
    7 17 16 23 26 30 36 36 44 46
    10 21 30 27 37 43 31 37 39
    19 28 25 35 41 29 31 29
    9 10 16 22 20 28 30
    7 11 13 17 25 27
    10 16 10 18 20
    6 6 14 16
    12 12 20
    8 10
    10
"""


def truck_dispatching() -> RoutingData:
    """Return Dantzig and Ramser's example."""
    values = np.array(_UPPER_ROWS.split(), dtype=np.int64)
    weights = explicit_matrix(values, "UPPER_ROW", len(_DEMANDS))
    return RoutingData(None, "EXPLICIT", weights, np.array(_DEMANDS, dtype=np.int64), CAPACITY, "truck")
