"""The symmetric travelling salesman problem, with distances as TSPLIB defines them, as a domain."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance, InstanceRef, State, Verdict
from dga2d.domains.core.errors import InvalidSolutionError
from dga2d.domains.core.library import LibraryDomain
from dga2d.domains.core.published import list_instances
from dga2d.domains.tsp.generator import uniform_cities
from dga2d.domains.tsp.reader import format_tour, operator_environment, read_tsplib
from dga2d.domains.tsp.suite import find_generated, generated_refs
from dga2d.domains.tsp.verifier import verify_tour


class TspDomain(LibraryDomain):
    """Implements :class:`dga2d.domains.core.contract.Domain`; `Instance.data` is what
    :meth:`dga2d.domains.tsp.reader.TsplibFile.data` returns: ``coords`` alone where distances are EUC_2D.
    """

    invalid_score = 999_999_999.0
    safe_pipeline = ("greedy_edge", "or_two_opt", "iterated_lin_kernighan")
    basic_pipeline = ("greedy_edge", "two_opt", "or_opt", "simulated_annealing")
    ils_pipeline = ("nearest_neighbour", "iterated_or_opt")

    def generated(self) -> tuple[InstanceRef, ...]:
        return generated_refs()

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        return list_instances(self.name, data_dir / self.name, self.suffixes, needs_table=False)

    def read(self, path: Path) -> Mapping[str, Any]:
        return read_tsplib(path).data()

    def generate(self, ref: InstanceRef) -> Mapping[str, Any]:
        return _data(find_generated(ref.group, ref.name).cities())

    def smoke_instance(self) -> Instance:
        return Instance(self.name, "smoke", "E16", _data(uniform_cities(16, 16)))

    def rehearsal_data(self) -> Mapping[str, Any]:
        return _data(uniform_cities(200, 47_110_815))

    def environment(self, instance: Instance) -> dict[str, Any]:
        return operator_environment(instance.data)

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_tour(instance.data, getattr(state, "sequence", None))

    def write_solution(self, instance: Instance, state: State) -> str:
        verdict = self.verify(instance, state)
        if verdict.objective is None:
            raise InvalidSolutionError(f"{instance.key}: {verdict.violation}")
        return format_tour(instance.name, state.sequence, int(verdict.objective))


def _data(coords: NDArray[np.float64]) -> Mapping[str, Any]:
    coords.setflags(write=False)
    return {"coords": coords}
