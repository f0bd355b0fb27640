"""Maximum independent set as a :class:`~dga2d.domains.contract.Domain`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
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
from dga2d.domains.mis import reader, smoke, suite
from dga2d.domains.mis.card import CARD, INVALID_SCORE
from dga2d.domains.mis.environment import operator_environment
from dga2d.domains.mis.solution import set_text
from dga2d.domains.mis.verifier import selected, verify_vector
from dga2d.domains.published import list_instances

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAFE_PIPELINE = ("min_degree_greedy", "phased_local_search", "edge_weighting_cover")
BASIC_PIPELINE = ("min_degree_greedy", "two_improvement", "simulated_annealing")
ILS_PIPELINE = ("min_degree_greedy", "iterated_two_improvement")


@cache
def _library() -> tuple[Operator, ...]:
    return load_library(files("dga2d.domains.mis"))


class IndependentSet:
    """The maximum independent set problem; `Instance.data` holds ``adjacency`` alone."""

    name = "mis"
    card: Card = CARD
    sense: Literal["min", "max"] = "max"
    invalid_score = float(INVALID_SCORE)

    def operators(self) -> tuple[Operator, ...]:
        return _library()

    def safe_baseline(self) -> tuple[PipelineStep, ...]:
        return pipeline(_library(), *SAFE_PIPELINE)

    def basic_baseline(self) -> tuple[PipelineStep, ...]:
        return pipeline(_library(), *BASIC_PIPELINE)

    def ils_baseline(self) -> tuple[PipelineStep, ...]:
        """Iterated local search: a greedy set, then perturbation and (1,2)-swaps for the whole time."""
        return pipeline(_library(), *ILS_PIPELINE)

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
        reference = Reference(float(smoke.INDEPENDENCE_NUMBER), "optimal", "Fulkerson and others 1974")
        return _instance("constructions", "MANN_a9", smoke.nine_points(), reference)

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Fresh writable arrays: operators may scribble on them without harm to the instance."""
        return operator_environment(instance.data["adjacency"], instance.name)

    def decoder(self, environment: Mapping[str, Any]) -> Decoder:
        # numba takes a third of a second to import; only callers that decode pay for it
        from dga2d.domains.mis.decoder import make_decoder

        return make_decoder(environment)

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_vector(instance.data["adjacency"], state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """The vertices of the set; the format is described in :mod:`dga2d.domains.mis.solution`."""
        verdict = self.verify(instance, state)
        if verdict.objective is None:
            raise InvalidSolutionError(verdict.violation)
        return set_text(instance.key, selected(state.sequence))

    def cp_sat(self, instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
        """A set found by OR-Tools' CP-SAT, for comparison; ``None`` if it found nothing in time."""
        from dga2d.domains.mis.cp_sat import solve  # an optional dependency

        return solve(instance, time_limit_s, seed, workers)

    def picture(self, instance: Instance, state: State) -> Figure:
        """The graph with the set highlighted; raises InvalidSolutionError for a broken state."""
        from dga2d.domains.mis.picture import picture  # matplotlib is slow to import

        return picture(instance, state)


def _instance(group: str, name: str, adjacency: NDArray[np.uint8], reference: Reference | None) -> Instance:
    adjacency.setflags(write=False)
    return Instance("mis", group, name, {"adjacency": adjacency}, reference)
