"""A domain with an oracle, small enough to test the process around it: find x where a hidden line is 0."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import (
    Card,
    Decoder,
    Implementation,
    Instance,
    InstanceRef,
    Operator,
    OperatorName,
    OwnScore,
    PipelineStep,
    State,
    Verdict,
)
from dga2d.domains.core.oracle import Ask, OracleRefusedError

MOST_QUESTIONS = 1000
START = """
import numpy as np


def run(env_data, state, calc_makespan_fn):
    state.metadata["x"] = np.zeros(1)
    state.metadata["y"] = env_data["line"](state.metadata["x"])
    return state
"""
STEP = """
import numpy as np


def run(env_data, state, calc_makespan_fn):
    x = state.metadata["x"]
    state.metadata["y"] = env_data["line"](x + 1.0)
    state.metadata["x"] = x + 1.0
    return state
"""


class HiddenLine:
    """y = x - root; a question is one x."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._root = float(data["root"])
        self._asked = 0

    def answer(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        if rows.ndim != 2 or rows.shape[1] != 1:
            raise OracleRefusedError("a question is one number")
        if self._asked + len(rows) > MOST_QUESTIONS:
            raise OracleRefusedError(f"more than {MOST_QUESTIONS} questions")
        if self._root == 13.0:
            raise ZeroDivisionError("an oracle's own fault")
        self._asked += len(rows)
        return rows - self._root

    def record(self) -> dict[str, Any]:
        return {"asked": self._asked}


make_oracle = HiddenLine


class HiddenDecoder:
    repeats = True

    def __init__(self, environment: Mapping[str, Any]) -> None:
        self._tolerance = environment["tolerance"]
        self.helpers: dict[str, Any] = {}

    def connect(self, ask: Ask) -> None:
        self.helpers["line"] = lambda x: ask(np.reshape(x, (-1, 1)))[:, 0]

    def __call__(self, state: State) -> float:
        y = state.metadata.get("y")
        return float(abs(y[0])) if isinstance(y, np.ndarray) and y.size else 1e100

    def is_done(self, state: State) -> bool:
        return bool(self(state) <= self._tolerance)


make_decoder = HiddenDecoder


class HiddenDomain:
    name = "hidden"
    sense: Literal["min", "max"] = "max"
    invalid_score = 1e100
    own_score = OwnScore(failure=-2000.0, formula="-questions")
    card = Card("Hidden", "few questions", "x in metadata", "none", {"tolerance": "of |y|"}, "one number")

    def operators(self) -> tuple[Operator, ...]:
        return _operator("start", START, "none"), _operator("step", STEP, "complete")

    def safe_baseline(self) -> tuple[PipelineStep, ...]:
        return tuple(PipelineStep(op.id, op.implementations[0]) for op in self.operators())

    def basic_baseline(self) -> tuple[PipelineStep, ...]:
        return self.safe_baseline()

    def generated(self) -> tuple[InstanceRef, ...]:
        return ()

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        return ()

    def load(self, ref: InstanceRef) -> Instance:
        return Instance("hidden", "hidden", ref.name, {"root": float(ref.name)})

    def smoke_instance(self) -> Instance:
        return Instance("hidden", "hidden", "smoke", {"root": 2.0})

    def rehearsal_instance(self) -> Instance:
        return self.smoke_instance()

    def environment(self, instance: Instance) -> dict[str, Any]:
        return {"tolerance": 1e-8}

    def oracle_data(self, instance: Instance) -> dict[str, Any]:
        return dict(instance.data)

    def decoder(self, environment: Mapping[str, Any]) -> Decoder:
        return make_decoder(environment)

    def verify(self, instance: Instance, state: State) -> Verdict:
        x, asked = state.metadata.get("x"), state.metadata.get("measured_asked")
        if not isinstance(x, np.ndarray) or x.shape != (1,) or not isinstance(asked, int):
            return Verdict(None, "x is no array of one number")
        if abs(x[0] - instance.data["root"]) > 1e-8:
            return Verdict(None, f"the line is {x[0] - instance.data['root']:g} at {x[0]:g}, not 0")
        return Verdict(-float(asked), None)


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


DOMAIN = HiddenDomain()
