"""The symmetric travelling salesman problem with rounded Euclidean distances, as a domain."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.contract import (
    Card,
    Decoder,
    Instance,
    InstanceRef,
    Operator,
    PipelineStep,
    Reference,
    State,
    Verdict,
)
from dga2d.domains.errors import InstanceFormatError, InvalidSolutionError
from dga2d.domains.library import load_library, pipeline
from dga2d.domains.tsp.card import CARD
from dga2d.domains.tsp.environment import operator_environment
from dga2d.domains.tsp.generator import uniform_cities
from dga2d.domains.tsp.suite import find_generated, generated_refs
from dga2d.domains.tsp.tsplib import format_tour, read_tsplib
from dga2d.domains.tsp.verifier import verify_tour

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class TspDomain:
    """Implements :class:`dga2d.domains.contract.Domain`; `Instance.data` holds ``coords`` alone."""

    name = "tsp"
    card: Card = CARD
    sense: Literal["min", "max"] = "min"
    invalid_score = 999_999_999.0

    @cached_property
    def _library(self) -> tuple[Operator, ...]:
        return load_library(files(__package__))

    def operators(self) -> tuple[Operator, ...]:
        return self._library

    def safe_baseline(self) -> tuple[PipelineStep, ...]:
        return pipeline(self._library, "greedy_edge", "or_two_opt", "iterated_lin_kernighan")

    def basic_baseline(self) -> tuple[PipelineStep, ...]:
        return pipeline(self._library, "greedy_edge", "two_opt", "or_opt", "simulated_annealing")

    def ils_baseline(self) -> tuple[PipelineStep, ...]:
        return pipeline(self._library, "nearest_neighbour", "iterated_or_opt")

    def generated(self) -> tuple[InstanceRef, ...]:
        return generated_refs()

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        root = data_dir / self.name
        best_known = _best_known(root / "bks.json")
        refs = []
        for path in root.glob("*/*.tsp"):
            group, name = path.parent.name, path.stem
            refs.append(InstanceRef(self.name, group, name, path, best_known.get(f"{group}/{name}")))
        return tuple(sorted(refs, key=lambda ref: ref.key))

    def load(self, ref: InstanceRef) -> Instance:
        if ref.path is not None:
            coords = read_tsplib(ref.path).coords
        else:
            coords = find_generated(ref.group, ref.name).cities()
        return _instance(ref.group, ref.name, coords, ref.reference)

    def smoke_instance(self) -> Instance:
        return _instance("smoke", "E16", uniform_cities(16, 16), None)

    def environment(self, instance: Instance) -> dict[str, Any]:
        return operator_environment(instance.data["coords"])

    def decoder(self, environment: Mapping[str, Any]) -> Decoder:
        from dga2d.domains.tsp.decoder import make_decoder  # numba is slow to import

        return make_decoder(environment)

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_tour(instance.data["coords"], getattr(state, "sequence", None))

    def write_solution(self, instance: Instance, state: State) -> str:
        verdict = self.verify(instance, state)
        if verdict.objective is None:
            raise InvalidSolutionError(f"{instance.key}: {verdict.violation}")
        return format_tour(instance.name, state.sequence, int(verdict.objective))

    def picture(self, instance: Instance, state: State) -> Figure:
        """The tour on the plane; raises InvalidSolutionError for a broken state."""
        from dga2d.domains.tsp.picture import picture

        return picture(instance, state)

    def cp_sat(self, instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
        """OR-Tools' routing library (not CP-SAT); needs the package ``ortools``."""
        from dga2d.domains.tsp.cp_sat import solve

        return solve(instance, time_limit_s, seed, workers)


def _instance(group: str, name: str, coords: NDArray[np.float64], reference: Reference | None) -> Instance:
    coords.setflags(write=False)
    return Instance("tsp", group, name, {"coords": coords}, reference)


def _best_known(path: Path) -> dict[str, Reference]:
    """Best-known tour lengths by ``group/name``; empty when there is no table."""
    if not path.exists():
        return {}
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        return {key: _reference(entry) for key, entry in table.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InstanceFormatError(path, None, f"malformed table of best-known values: {error!r}") from error


def _reference(entry: Mapping[str, Any]) -> Reference:
    value = entry["best"]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise ValueError(f"expected a finite length, got {value!r}")
    return Reference(
        float(value), "optimal" if entry["optimal"] is True else "best_known", str(entry["source"])
    )
