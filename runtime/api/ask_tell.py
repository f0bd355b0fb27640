"""A run whose evaluations the caller answers, one question at a time."""

from __future__ import annotations

import asyncio
import queue
from concurrent.futures import Future
from functools import partial
from typing import Any

from dga2d.runtime.api.evaluators import Answer, Question
from dga2d.runtime.api.evolving import evolve_async
from dga2d.runtime.api.run import Run
from dga2d.runtime.api.threads import start
from dga2d.runtime.errors import UsageError


class AskTell:
    """A run that asks its caller what solutions are worth.

    Takes the arguments of `evolve`, but for ``evaluator``, and evolves in the background::

        asking = dga2d.AskTell("tsp", budget="2000 work", generations=5)
        while (question := asking.ask()) is not None:
            asking.tell(question, simulate(question.solution.sequence))
        asking.run.best
    """

    def __init__(self, problem: Any, **arguments: Any) -> None:
        self._questions: queue.Queue[Question | None] = queue.Queue()
        self._waiting: dict[str, Future[Answer]] = {}
        arguments = {"progress": False, **arguments, "evaluator": self._ask}
        self._run = start(partial(evolve_async, problem, **arguments))
        self._run.add_done_callback(lambda run: self._questions.put(None))

    async def _ask(self, question: Question) -> Answer:
        answer = self._waiting[question.key] = Future()
        self._questions.put(question)
        return await asyncio.wrap_future(answer)

    def ask(self, timeout: float | None = None) -> Question | None:
        """Return the next question; ``None`` when the run has ended.

        Raises
        ------
        TimeoutError
            There was none for `timeout` seconds.
        Dga2dError
            The run failed.
        """
        try:
            question = self._questions.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError(f"no question for {timeout:g} s") from None
        if question is None:
            self._questions.put(None)
            self._run.result()
        return question

    def tell(self, question: Question, objective: Answer) -> None:
        """Answer a question; questions may be answered in any order.

        Raises
        ------
        UsageError
            It was answered already.
        """
        waiting = self._waiting.pop(question.key, None)
        if waiting is None:
            raise UsageError(f"{question.key} was answered already")
        waiting.set_result(objective)

    @property
    def run(self) -> Run:
        """The run, once all questions are answered. Waits for its end."""
        return self._run.result()
