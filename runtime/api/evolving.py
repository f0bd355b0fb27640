"""Start a run from Python, follow it, answer its evaluations, and find the runs of a database by name."""

from __future__ import annotations

import asyncio
import queue
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from os import environ
from pathlib import Path
from typing import Any, NamedTuple

from dga2d.domains.core.plugins import use_problem
from dga2d.events import RunId
from dga2d.runtime.api import threads
from dga2d.runtime.api.evaluators import Answer, OutsideKind, Question, outside_evaluator
from dga2d.runtime.api.following import Callback, Session, follow, follow_async, render
from dga2d.runtime.api.run import Run
from dga2d.runtime.api.threads import FilePath, start
from dga2d.runtime.errors import SettingsError, UsageError
from dga2d.runtime.inspection.measures import measure_in
from dga2d.runtime.inspection.runs import list_runs, run_names
from dga2d.runtime.runs import sessions
from dga2d.runtime.runs.problem import settings_for
from dga2d.runtime.runs.sessions import Finished
from dga2d.store import DEFAULT_URL, UnknownRunError, database_url, shown_url


def evolve(
    problem: Any,
    *,
    budget: float | str | None = None,
    llm: str | None = None,
    seed: int = 0,
    test: bool = False,
    max_hours: float | None = None,
    store: FilePath | None = None,
    data: FilePath | None = None,
    run_id: str | None = None,
    evaluator: Any = None,
    callbacks: Sequence[Callback] = (),
    progress: bool | None = None,
    **settings: Any,
) -> Run:
    """Evolve a solver for `problem` and return the run when it is over.

    Works inside a running event loop, too. Ctrl-C (or the stop button of a notebook) pauses the run, which
    the log records, and then raises `KeyboardInterrupt`; ``dga2d.open(store)[run_id].resume()`` goes on.

    Parameters
    ----------
    problem
        Name of a domain, path of a problem's file, or the class (or an object) of a `dga2d.Problem` that is
        defined in a file.
    budget
        What an algorithm may spend on one instance: seconds (``2.0``, ``"2 s"``) or work units
        (``"20000 work"``).
    llm
        Who writes code: ``"offline"`` (the default), ``"openai:MODEL"``, ``"anthropic:MODEL"``,
        ``"local:PATH"``.
    seed
        Root of all random streams.
    test
        Finish with the held-out test.
    max_hours
        Hours by the clock after which the run is paused.
    store
        Path or URL of the database; ``DGA2D_STORE`` or ``dga2d.db`` by default.
    data
        Folder of published instances; without it the program generates instances.
    run_id
        Name of the run; a fresh one by default.
    evaluator
        A trusted evaluator of your own that has the last word on solutions: a function of a `Question`, a
        `ProcessEvaluator`, or an object with the method of `dga2d.agents.ports.Evaluator`.
    callbacks
        Functions of state and event, called for each event; `StopEvolution` raised in one pauses the run.
    progress
        Whether to show what happens: a live display in notebooks and terminals, else lines on stderr.
    **settings
        Any other setting of ``docs/reference/configuration.md``.

    Raises
    ------
    Dga2dError, DomainError
        Something the run needs is missing (before any event is written), or it failed.
    """
    start = _prepare(problem, budget, llm, seed, store, data, run_id, evaluator, settings)
    finished = follow(start.session, callbacks, progress, start.outside, max_hours)
    run = Run(start.url, finished.run_id)
    return run.test(progress=progress, data=data, evaluator=evaluator) if _wants_test(test, finished) else run


async def evolve_async(
    problem: Any,
    *,
    budget: float | str | None = None,
    llm: str | None = None,
    seed: int = 0,
    test: bool = False,
    max_hours: float | None = None,
    store: FilePath | None = None,
    data: FilePath | None = None,
    run_id: str | None = None,
    evaluator: Any = None,
    callbacks: Sequence[Callback] = (),
    progress: bool | None = None,
    **settings: Any,
) -> Run:
    """Evolve as `evolve` does, in the running event loop of asyncio.

    A cancelled run is left as a crash would leave it: whole, and ``resume`` goes on from its last event.
    """
    start = _prepare(problem, budget, llm, seed, store, data, run_id, evaluator, settings)
    finished = await follow_async(start.session, callbacks, progress, start.outside, max_hours)
    run = Run(start.url, finished.run_id)
    if _wants_test(test, finished):
        return await run.test_async(progress=progress, data=data, evaluator=evaluator)
    return run


def _wants_test(test: bool, finished: Finished) -> bool:
    return test and finished.state.status == "completed"


class _Start(NamedTuple):
    """A run that is ready to begin."""

    session: Session
    url: str
    """Its database."""
    outside: OutsideKind | None


def _prepare(
    problem: Any,
    budget: float | str | None,
    llm: str | None,
    seed: int,
    store: FilePath | None,
    data: FilePath | None,
    run_id: str | None,
    evaluator: Any,
    settings: dict[str, Any],
) -> _Start:
    """Check the arguments of `evolve` and return what they ask for."""
    url = store_url(store)
    limits = {} if budget is None else parse_budget(budget)
    folder = None if data is None else Path(data)
    run = None if run_id is None else RunId(run_id)
    outside = outside_evaluator(evaluator)
    name = use_problem(problem)
    effective = settings_for(name, limits, {**settings, "llm": llm})
    session = partial(sessions.evolve, url, name, effective, seed, folder, run_id=run, outside=outside)
    return _Start(session, url, outside)


def store_url(store: FilePath | None) -> str:
    """Return the URL of a database."""
    return database_url(str(store or environ.get("DGA2D_STORE") or DEFAULT_URL))


def parse_budget(budget: float | str) -> dict[str, Any]:
    """Return the settings that a budget means.

    Raises
    ------
    SettingsError
        It is neither a number of seconds nor ``"N s"``, ``"N work"`` or ``"N s work"``.
    """
    found = re.fullmatch(r"\s*([0-9.eE+_]+)\s*(s work|s|work)?\s*", str(budget))
    try:
        if found is None:
            raise ValueError
        amount, unit = float(found[1]), found[2]
    except ValueError:
        raise SettingsError(
            f'budget = {budget!r}: expected seconds (2.0, "2 s"), "20000 work", or work that stands for '
            'seconds ("0.25 s work")'
        ) from None
    if unit == "s work":
        return {"work_seconds": amount}
    return {"work": int(amount)} if unit == "work" else {"time_limit": amount, "work": None}


class Runs(Mapping[str, Run]):
    """All runs of a database, oldest first, as they are at the moment of asking."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __getitem__(self, name: str) -> Run:
        """Return the run called `name`.

        Raises
        ------
        UnknownRunError
            There is none; the message names a similar one. It is a `KeyError`.
        """
        names = list(self)
        if name not in names:
            raise UnknownRunError(name, names)
        return Run(self.url, RunId(name))

    def __iter__(self) -> Iterator[str]:
        return iter(threads.call(partial(run_names, self.url)))

    def __len__(self) -> int:
        return len(list(iter(self)))

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row per run, as ``dga2d runs --json`` prints it."""
        return threads.call(partial(list_runs, self.url))

    def __repr__(self) -> str:
        return f"<{len(self)} runs of {shown_url(self.url)}>"

    def _repr_html_(self) -> str:
        rows = []
        for row in self.table:
            gap = row["best_gap_percent"]
            rows.append({**row, "best": "" if gap is None else measure_in(row).text(gap)})
        return render("runs.html.j2", rows=rows, url=shown_url(self.url))


def open(store: FilePath | None = None) -> Runs:
    """Return the runs of the database `store` (a path or URL; ``DGA2D_STORE`` or ``dga2d.db`` by default)."""
    return Runs(store_url(store))


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
