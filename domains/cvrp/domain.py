"""The capacitated vehicle routing problem as a :class:`~dga2d.domains.contract.Domain`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from dga2d.domains.contract import Card, Instance, InstanceRef, Reference, State, Verdict
from dga2d.domains.cvrp import reader, smoke, suite
from dga2d.domains.cvrp.card import CARD, INVALID_SCORE
from dga2d.domains.cvrp.environment import operator_environment
from dga2d.domains.cvrp.generator import generate
from dga2d.domains.cvrp.solution import format_solution
from dga2d.domains.cvrp.verifier import distance_of, routes_of, verify_routes
from dga2d.domains.errors import InstanceFormatError, InvalidSolutionError
from dga2d.domains.library_domain import LibraryDomain
from dga2d.domains.published import list_instances

RELAXED = "; the file's limits on route durations are not part of the problem"


class VehicleRouting(LibraryDomain):
    """The CVRP with a free number of routes; `Instance.data` holds ``routing``, a `reader.RoutingData`."""

    name = "cvrp"
    card: Card = CARD
    sense: Literal["min", "max"] = "min"
    invalid_score = float(INVALID_SCORE)
    safe_pipeline = ("savings", "ruin_and_recreate")
    basic_pipeline = ("savings", "two_opt", "relocate_and_exchange", "simulated_annealing")
    ils_pipeline = ("savings", "iterated_local_search")

    def generated(self) -> tuple[InstanceRef, ...]:
        return suite.generated_refs()

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        return list_instances(self.name, data_dir / self.name, reader.SUFFIXES)

    def load(self, ref: InstanceRef) -> Instance:
        """Read or generate. Where the file limits route durations, which the card does not, the source of
        the reference says that it belongs to the tighter problem.
        """
        if ref.path is not None:
            data = reader.read_instance(ref.path)
        elif (found := suite.find_generated(ref.group, ref.name)) is not None:
            data = generate(found.recipe)
        else:
            raise InstanceFormatError(ref.key, None, "has no file and is not a generated instance")
        reference = ref.reference
        if data.has_duration_limit and reference is not None:
            reference = replace(reference, kind="best_known", source=reference.source + RELAXED)
        return self._instance(ref.group, ref.name, data, reference)

    def smoke_instance(self) -> Instance:
        reference = Reference(
            float(smoke.OPTIMUM),
            "optimal",
            "Dantzig and Ramser 1959; proven by dynamic programming over subsets",
        )
        return self._instance("smoke", "truck-dispatching", smoke.truck_dispatching(), reference)

    def _instance(
        self, group: str, name: str, data: reader.RoutingData, reference: Reference | None
    ) -> Instance:
        return Instance(self.name, group, name, {"routing": data}, reference)

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Fresh writable arrays: operators may scribble on them without harm to the instance."""
        return operator_environment(instance.data["routing"])

    def verify(self, instance: Instance, state: State) -> Verdict:
        data = instance.data["routing"]
        sequence = getattr(state, "sequence", None)
        return verify_routes(sequence, data.demands, data.capacity, distance_of(data))

    def write_solution(self, instance: Instance, state: State) -> str:
        """CVRPLIB's ``.sol``; the format is described in :mod:`dga2d.domains.cvrp.solution`."""
        verdict = self.verify(instance, state)
        routes = routes_of(state.sequence)
        if verdict.objective is None or isinstance(routes, str):
            raise InvalidSolutionError(f"{instance.key}: {verdict.violation}")
        return format_solution(routes, int(verdict.objective))
