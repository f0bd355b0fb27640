"""Evaluators of the user's choosing: who is asked what, and what becomes of the answers."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.domains.core.contract import Implementation, Instance, OperatorName
from dga2d.runtime.api.evaluators import (
    FunctionEvaluator,
    OutsideEvaluationError,
    ProcessEvaluator,
    Question,
    ReplacingEvaluator,
    outside_evaluator,
)
from dga2d.runtime.api.evolving import parse_budget
from dga2d.runtime.errors import RunStateError, SettingsError, UsageError
from dga2d.runtime.evaluation.pool import EvaluatorPool
from dga2d.runtime.evaluator import check_evaluator

STEPS = (Implementation(OperatorName("a"), "def run(e, s, c):\n    return s\n", "test"),)
INSTANCE = Instance("tsp", "g", "i", {})


def request(key: str = "evaluation/train/1/0/g/i") -> EvaluationRequest:
    return EvaluationRequest(key, INSTANCE, STEPS, (1,), 10.0)


@dataclass
class Sandbox:
    """Finds the solution 3, 1, 2 of value 7, unless told to fail."""

    fails: bool = False
    workers, busy, compiling = 2, 1, 0

    @property
    def sandbox_status(self) -> dict[str, str]:
        return {"seccomp": "active"}

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        if self.fails:
            return EvaluationReply(None, "timeout", "late", 1.0, 0, (), None)
        solution = json.dumps({"metadata": {}, "sequence": [3, 1, 2]}).encode()
        return EvaluationReply(7.0, None, "", 1.0, 5, (), solution)


def pool(fails: bool = False) -> EvaluatorPool:
    return cast("EvaluatorPool", Sandbox(fails))


async def test_a_function_has_the_last_word_on_recorded_evaluations() -> None:
    asked: list[Question] = []

    def judge(question: Question) -> float:
        asked.append(question)
        return question.objective + float(question.solution.sequence[0])

    evaluator = FunctionEvaluator(judge).around(pool())
    assert (await evaluator.evaluate(request())).objective == 10.0
    assert (asked[0].instance, asked[0].program) == (INSTANCE, STEPS)
    for key in ("isolated/a.1", "composed/a.1", "work-rate/a/g/i"):
        assert (await evaluator.evaluate(request(key))).objective == 7.0
    assert len(asked) == 1
    assert evaluator.sandbox_status["evaluator"] == f"function {__name__}.{judge.__qualname__}"
    assert (evaluator.workers, evaluator.busy) == (2, 1)
    failing = FunctionEvaluator(judge).around(pool(fails=True))
    assert (await failing.evaluate(request())).failure == "timeout"


async def test_none_refuses_a_solution_and_nonsense_ends_the_run() -> None:
    async def judge(question: Question) -> Any:
        return answers.pop()

    answers = [float("nan"), "12", None]
    evaluator = FunctionEvaluator(judge).around(pool())
    reply = await evaluator.evaluate(request())
    assert (reply.objective, reply.failure, reply.solution) == (None, "infeasible", None)
    assert "does not accept" in reply.diagnostic
    for shown in ("'12'", "nan"):
        with pytest.raises(OutsideEvaluationError, match=f"answered {shown} to evaluation/train/1/0/g/i"):
            await evaluator.evaluate(request())


async def test_an_object_runs_the_programs_itself_but_for_trials() -> None:
    class Elsewhere:
        async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
            return EvaluationReply(1.0, None, "", 0.0, 0, (), b"{}")

    evaluator = cast("ReplacingEvaluator", outside_evaluator(Elsewhere())).around(pool())
    assert (await evaluator.evaluate(request())).objective == 1.0
    assert (await evaluator.evaluate(request("isolated/a.1"))).objective == 7.0


DOUBLE = """
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    assert question["solution"]["sequence"] == [3, 1, 2]
    print(json.dumps({"objective": 2 * question["objective"]}), flush=True)
"""


@pytest.fixture
def process() -> Iterator[Any]:
    made: list[ProcessEvaluator] = []

    def make(program: str) -> ProcessEvaluator:
        made.append(ProcessEvaluator([sys.executable, "-c", program]))
        return made[-1]

    yield make
    for one in made:
        one.close()


async def test_a_process_answers_line_by_line(process: Any) -> None:
    evaluator = process(DOUBLE).around(pool())
    assert [(await evaluator.evaluate(request())).objective for _ in range(3)] == [14.0] * 3


@pytest.mark.parametrize("program", ["pass", "print('no')", "print('{}')", "import sys; sys.exit(4)"])
async def test_a_process_that_does_not_answer_is_named(process: Any, program: str) -> None:
    evaluator = process(program).around(pool())
    with pytest.raises(OutsideEvaluationError, match=r"^process .*: no answer to evaluation/train"):
        await evaluator.evaluate(request())


def test_what_cannot_evaluate_is_refused() -> None:
    assert outside_evaluator(None) is None
    with pytest.raises(UsageError, match="evaluator=12: expected a function"):
        outside_evaluator(12)


def test_a_run_goes_on_with_the_evaluator_it_began_with() -> None:
    given = FunctionEvaluator(len)  # type: ignore[arg-type]
    recorded = {"seccomp": "active", "evaluator": given.name}
    check_evaluator("r", recorded, given)
    check_evaluator("r", {"seccomp": "active"}, None)
    for before, now in ((recorded, None), ({}, given)):
        with pytest.raises(RunStateError, match=r"run r was evaluated by .*, not by "):
            check_evaluator("r", before, now)


@pytest.mark.parametrize(
    ("budget", "settings"),
    [
        (2, {"time_limit": 2.0, "work": None}),
        (0.5, {"time_limit": 0.5, "work": None}),
        ("2 s", {"time_limit": 2.0, "work": None}),
        ("20000 work", {"work": 20000}),
        ("2e4work", {"work": 20000}),
        ("0.25 s work", {"work_seconds": 0.25}),
    ],
)
def test_a_budget_is_seconds_or_work(budget: float | str, settings: dict[str, Any]) -> None:
    assert parse_budget(budget) == settings


@pytest.mark.parametrize("budget", ["", "2 minutes", "work", "nan", "1..2 s", "2 work s"])
def test_other_budgets_are_refused(budget: str) -> None:
    with pytest.raises(SettingsError, match="expected seconds"):
        parse_budget(budget)
