"""A domain small enough to test the pool with: visit points on a line; the objective is the distance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numba
import numpy as np

from dga2d.domains.core.contract import (
    Card,
    Decoder,
    Implementation,
    Instance,
    InstanceRef,
    Operator,
    OperatorName,
    PipelineStep,
    State,
    Verdict,
)

INVALID = 999999999.0
ORDER = """
import numpy as np


def run(env_data, state, calc_makespan_fn):
    state.sequence = np.arange(env_data["n"], dtype=np.int32)
    return state
"""
SWAP = """
import numpy as np


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    best = calc_makespan_fn(state)
    while not budget.exhausted():
        i, j = rng.integers(env_data["n"], size=2)
        state.sequence[[i, j]] = state.sequence[[j, i]]
        score = calc_makespan_fn(state)
        if score > best:
            state.sequence[[i, j]] = state.sequence[[j, i]]
        else:
            best = score
    return state
"""


@numba.njit(cache=True)
def _distance(points: Any, sequence: Any) -> float:  # pragma: no cover - compiled
    if sequence.size != points.size:
        return INVALID
    seen = np.zeros(points.size, np.uint8)
    total = 0.0
    for k in range(sequence.size):
        i = sequence[k]
        if i < 0 or i >= points.size or seen[i] == 1:
            return INVALID
        seen[i] = 1
        if k > 0:
            total += abs(points[i] - points[sequence[k - 1]])
    return total


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Distance along a sequence; what a worker imports of a domain."""
    points = environment["points"]
    return lambda state: float(_distance(points, state.sequence))


class LineDomain:
    name = "line"
    sense: Literal["min", "max"] = "min"
    invalid_score = INVALID
    card = Card("Line", "distance", "permutation", "sum", {"n": "points", "points": "float64"}, "permutation")

    def operators(self) -> tuple[Operator, ...]:
        return (
            _operator("order", ORDER, "none"),
            _operator("swap", SWAP, "complete"),
        )

    def safe_baseline(self) -> tuple[PipelineStep, ...]:
        return tuple(PipelineStep(op.id, op.implementations[0]) for op in self.operators())

    def basic_baseline(self) -> tuple[PipelineStep, ...]:
        return self.safe_baseline()

    def generated(self) -> tuple[InstanceRef, ...]:
        return ()

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        return ()

    def load(self, ref: InstanceRef) -> Instance:
        n, seed = ref.name.removeprefix("line").split("-")
        return instance(int(n), int(seed))

    def smoke_instance(self) -> Instance:
        return instance(8)

    def rehearsal_instance(self) -> Instance:
        return instance(9)

    def environment(self, instance: Instance) -> dict[str, Any]:
        return {"n": len(instance.data["points"]), "points": instance.data["points"]}

    def decoder(self, environment: Mapping[str, Any]) -> Decoder:
        return make_decoder(environment)

    def verify(self, instance: Instance, state: State) -> Verdict:
        points = instance.data["points"]
        sequence = state.sequence
        if not isinstance(sequence, np.ndarray) or sequence.dtype != np.int32 or sequence.ndim != 1:
            return Verdict(None, "the sequence is no int32 array of one dimension")
        if sorted(sequence.tolist()) != list(range(len(points))):
            return Verdict(None, "the sequence is no permutation of the points")
        return Verdict(float(np.abs(np.diff(points[sequence])).sum()), None)

    def write_solution(self, instance: Instance, state: State) -> str:
        return " ".join(map(str, state.sequence))


def _operator(name: str, source: str, requires: Literal["none", "complete"]) -> Operator:
    implementation = Implementation(OperatorName(name), source, "test")
    return Operator(
        OperatorName(name),
        name,
        name,
        "test",
        requires,
        "complete",
        "basic",
        "O(1)",
        "test",
        (implementation,),
    )


def instance(n: int, seed: int = 1) -> Instance:
    """`n` random points."""
    points = np.random.Generator(np.random.Philox(seed)).random(n)
    points.flags.writeable = False
    return Instance("line", "line", f"line{n}-{seed}", {"points": points})


DOMAIN = LineDomain()
