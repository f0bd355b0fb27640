"""Evaluators of the user's choosing: a function, a process, or the caller's own loop.

Programs run in the sandbox as ever and the domain checks their solutions; then the evaluator has the last
word on what a solution is worth. It is trusted, runs outside the sandbox, and the log records its name and
answers. Trials of new code and measurements of work are not its business.
"""

from __future__ import annotations

import inspect
import json
import math
import shlex
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from dga2d.agents.ports import EvaluationReply, EvaluationRequest, Evaluator
from dga2d.domains.core.contract import Implementation, Instance, State
from dga2d.events import Dga2dError
from dga2d.runtime.errors import UsageError
from dga2d.runtime.evaluator import OUTSIDE, RunEvaluator
from dga2d.runtime.runs.solving import decode_solution

if TYPE_CHECKING:
    pass


class OutsideEvaluationError(Dga2dError):
    """An evaluator of the user's choosing did not answer, or not with a number."""


@dataclass(frozen=True)
class Question:
    """A valid solution that an evaluator is to judge."""

    key: str
    """Name of the evaluation in the log."""
    instance: Instance
    solution: State
    objective: float
    """What the domain itself says of it."""
    program: tuple[Implementation, ...]
    seed: tuple[int, ...]


Answer = float | None
"""The objective in the problem's own direction; ``None`` for a solution that must not be used."""
Judge = Callable[[Question], Answer | Awaitable[Answer]]


@dataclass(frozen=True)
class Judged:
    """Evaluator of a run in which `judge` has the last word."""

    pool: RunEvaluator
    name: str
    judge: Callable[[Question], Awaitable[Answer]]

    @property
    def sandbox_status(self) -> dict[str, str]:
        return {**self.pool.sandbox_status, OUTSIDE: self.name}

    @property
    def workers(self) -> int:
        return self.pool.workers

    @property
    def busy(self) -> int:
        return self.pool.busy

    @property
    def compiling(self) -> int:
        return self.pool.compiling

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        """Run the program in the sandbox, then ask for the objective of its solution.

        Raises
        ------
        OutsideEvaluationError
            The answer is not a finite number.
        """
        reply = await self.pool.evaluate(request)
        if reply.objective is None or reply.solution is None or not _is_recorded(request):
            return reply
        solution = decode_solution(reply.solution)
        question = Question(
            request.key, request.instance, solution, reply.objective, request.steps, request.seed
        )
        answer = await self.judge(question)
        if answer is None:
            refused = f"{self.name} does not accept the solution"
            return replace(reply, objective=None, solution=None, failure="infeasible", diagnostic=refused)
        if not isinstance(answer, int | float) or not math.isfinite(answer):
            raise OutsideEvaluationError(
                f"{self.name} answered {answer!r} to {request.key}: expected a number"
            )
        return replace(reply, objective=float(answer))


@dataclass(frozen=True)
class _Replaced(Judged):
    """Evaluator of a run whose programs somebody else runs; the pool runs trials and measurements."""

    other: Evaluator = field(kw_only=True)

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        return await (self.other if _is_recorded(request) else self.pool).evaluate(request)


def _is_recorded(request: EvaluationRequest) -> bool:
    return request.key.startswith("evaluation/")


@dataclass(frozen=True)
class FunctionEvaluator:
    """A function of a `Question`. An ordinary one is asked one question at a time, in a thread; one that is
    asynchronous, many at once.
    """

    function: Judge

    @property
    def name(self) -> str:
        module = getattr(self.function, "__module__", "?")
        return f"function {module}.{getattr(self.function, '__qualname__', type(self.function).__name__)}"

    def around(self, pool: RunEvaluator) -> RunEvaluator:
        limiter = anyio.CapacityLimiter(1)

        async def judge(question: Question) -> Answer:
            if inspect.iscoroutinefunction(self.function):
                found = await self.function(question)
            else:
                found = await to_thread.run_sync(partial(self.function, question), limiter=limiter)
            return found  # type: ignore[no-any-return]

        return Judged(pool, self.name, judge)


@dataclass
class ProcessEvaluator:
    """A process that reads a JSON object per line and answers with one.

    It is started with the first question and asked one at a time: ``{"key": …, "instance": …, "solution":
    {"sequence": […], "metadata": {…}}, "objective": …}``. It answers ``{"objective": 12.5}``, or ``null``
    instead of the number for a solution that must not be used, and ends when its input does.
    """

    command: Sequence[str]
    _process: subprocess.Popen[str] | None = field(default=None, init=False, repr=False)

    @property
    def name(self) -> str:
        return f"process {shlex.join(self.command)}"

    def around(self, pool: RunEvaluator) -> RunEvaluator:
        limiter = anyio.CapacityLimiter(1)

        async def judge(question: Question) -> Answer:
            return await to_thread.run_sync(self._ask, question, limiter=limiter)

        return Judged(pool, self.name, judge)

    def close(self) -> None:
        """End the process, if it was started."""
        process, self._process = self._process, None
        if process is not None:
            with process:
                process.terminate()

    def _ask(self, question: Question) -> Answer:
        line = json.dumps(
            {
                "key": question.key,
                "instance": question.instance.key,
                "solution": {
                    "sequence": question.solution.sequence.tolist(),
                    "metadata": {k: _plain(v) for k, v in question.solution.metadata.items()},
                },
                "objective": question.objective,
            }
        )
        try:
            answer = self._exchange(line)
            found: Answer = json.loads(answer)["objective"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.close()
            raise OutsideEvaluationError(f"{self.name}: no answer to {question.key} ({error})") from error
        return found

    def _exchange(self, line: str) -> str:
        if self._process is None:
            self._process = subprocess.Popen(
                list(self.command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise OSError(f"it ended with code {process.wait()}")
        return answer


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


@dataclass(frozen=True)
class ReplacingEvaluator:
    """An object with the method of `dga2d.agents.ports.Evaluator`: it runs the programs, too."""

    other: Evaluator

    @property
    def name(self) -> str:
        kind = type(self.other)
        return f"object {kind.__module__}.{kind.__qualname__}"

    def around(self, pool: RunEvaluator) -> RunEvaluator:
        async def unused(question: Question) -> Answer:
            raise AssertionError(question.key)

        return _Replaced(pool, self.name, unused, other=self.other)


OutsideKind = FunctionEvaluator | ProcessEvaluator | ReplacingEvaluator


def outside_evaluator(given: Any) -> OutsideKind | None:
    """Return the evaluator that a user means.

    Raises
    ------
    UsageError
        It is neither a function, nor a process, nor an object that evaluates.
    """
    if given is None or isinstance(given, OutsideKind):
        return given
    if hasattr(given, "evaluate"):
        return ReplacingEvaluator(given)
    if callable(given):
        return FunctionEvaluator(given)
    raise UsageError(f"evaluator={given!r}: expected a function, a ProcessEvaluator or an Evaluator")
