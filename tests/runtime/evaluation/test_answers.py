"""Answers that the source rules would not let a program give, read by the parent as bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dga2d.domains.core.contract import Instance, State, Verdict
from dga2d.runtime.evaluation import answers, wire
from dga2d.runtime.evaluation.answers import ChildAnswer, EvaluationFailure, judge, read_ending
from dga2d.runtime.evaluation.errors import WireError

GOOD: list[Any] = [None, 1.0, 0.5, 3]


def read(trace: list[Any]) -> ChildAnswer | EvaluationFailure:
    fields = {"sequence": np.zeros(1, np.int32), "metadata": wire.encode({}), "work": 0, "trace": trace}
    return read_ending({"end": "answered", "answer": wire.encode({"kind": "solution", **fields})})


def test_a_sound_trace_is_read() -> None:
    answer = read([GOOD])
    assert isinstance(answer, ChildAnswer)
    assert answer.trace[0].elapsed_s == 0.5


@pytest.mark.parametrize("elapsed", [-1e299, 1e299, "1", None, True])
def test_a_position_takes_a_duration(elapsed: object) -> None:
    answer = read([GOOD, [1.0, 1.0, elapsed, 0]])
    assert isinstance(answer, EvaluationFailure)


@pytest.mark.parametrize("elapsed", [-1e-9, -1e8, 0])
def test_no_position_takes_less_than_no_time(elapsed: float) -> None:
    answer = read([GOOD, [1.0, 1.0, elapsed, 0]])
    assert isinstance(answer, ChildAnswer)
    assert answer.trace[1].elapsed_s == 0.0


@pytest.mark.parametrize("shape", [(1 << 38, 0), (1 << 21, 0, 5), (0, 1 << 30), (1 << 11, 1 << 11, 0)])
def test_an_array_without_values_has_no_millions_of_rows(shape: tuple[int, ...]) -> None:
    """It is a few bytes in the message, and as a list more than there is memory."""
    with pytest.raises(WireError, match="empty array"):
        wire.decode(wire.encode({"seen": np.zeros(shape)}))


@pytest.mark.parametrize("shape", [(0,), (0, 2), (1000, 0), (3, 0, 4)])
def test_empty_arrays_pass(shape: tuple[int, ...]) -> None:
    assert wire.decode(wire.encode({"seen": np.zeros(shape)}))["seen"].shape == shape


@pytest.mark.parametrize(
    ("objective", "is_taken"), [(-9e99, True), (1e100, False), (1e200, False), (np.nan, False)]
)
def test_an_objective_can_be_squared(objective: float, is_taken: bool) -> None:
    class AnyScore:
        def verify(self, instance: Instance, state: State) -> Verdict:
            return Verdict(objective, None)

    ended = {"elapsed_s": 1.0, "cpu_s": 1.0, "has_compiled": False}
    answer = read([GOOD])
    reply = judge(AnyScore(), Instance("any", "g", "i", {}), ended, answer)  # type: ignore[arg-type]
    assert (reply.objective, reply.failure) == ((objective, None) if is_taken else (None, "infeasible"))
    assert is_taken or f"{answers._MOST_OBJECTIVE:g}" in reply.diagnostic
