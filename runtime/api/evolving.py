"""Start a run from Python, and follow what it does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import environ
from pathlib import Path
from typing import Any, NamedTuple

from dga2d.domains.core.plugins import use_problem
from dga2d.events import RunId
from dga2d.runtime.api.evaluators import OutsideKind, outside_evaluator
from dga2d.runtime.api.following import Callback, Session, follow, follow_async
from dga2d.runtime.api.run import Run
from dga2d.runtime.api.threads import FilePath
from dga2d.runtime.errors import SettingsError
from dga2d.runtime.runs import sessions
from dga2d.runtime.runs.interruption import Interruption
from dga2d.runtime.runs.problem import settings_for
from dga2d.runtime.runs.sessions import Finished
from dga2d.runtime.terminal.progress import Progress
from dga2d.store import DEFAULT_URL, database_url


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

    async def session(watcher: Progress, stop: Interruption) -> Finished:
        return await sessions.evolve(
            url, name, effective, seed, folder, watcher, run, stop=stop, outside=outside
        )

    return _Start(session, url, outside)


def store_url(store: FilePath | None) -> str:
    """Return the URL of a database."""
    return database_url(str(store or environ.get("DGA2D_STORE") or DEFAULT_URL))


def parse_budget(budget: float | str) -> dict[str, Any]:
    """Return the settings that a budget means.

    Raises
    ------
    SettingsError
        It is neither a number of seconds nor ``"N s"`` or ``"N work"``.
    """
    found = re.fullmatch(r"\s*([0-9.eE+_]+)\s*(s|work)?\s*", str(budget))
    try:
        if found is None:
            raise ValueError
        amount, unit = float(found[1]), found[2]
        return {"work": int(amount)} if unit == "work" else {"time_limit": amount, "work": None}
    except ValueError:
        raise SettingsError(f'budget = {budget!r}: expected seconds (2.0, "2 s") or "20000 work"') from None
