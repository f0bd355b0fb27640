"""A run as Python sees it: results, tables, replay, forks, and its algorithm at work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dga2d.agents.evaluator_pool import SourceReader
from dga2d.events import RunId
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.api import threads
from dga2d.runtime.api.evaluators import OutsideKind, outside_evaluator
from dga2d.runtime.api.following import Callback, Session, follow, follow_async, render
from dga2d.runtime.api.threads import FilePath
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.inspection.call_views import calls_view
from dga2d.runtime.inspection.measures import GAP, measure_in, measure_of, measured_rows, percent
from dga2d.runtime.inspection.runs import read_state_view, replay_run, state_at
from dga2d.runtime.inspection.tables import evaluation_rows, table
from dga2d.runtime.inspection.verdict import read_achievement
from dga2d.runtime.inspection.views import algorithm_text, figure_text, history_view, results_view
from dga2d.runtime.report import charts, read_report_data, render_html, render_markdown
from dga2d.runtime.report.data import read_run
from dga2d.runtime.runs import forking, sessions
from dga2d.runtime.runs.problem import settings_for
from dga2d.runtime.runs.solving import solve_instance
from dga2d.runtime.solver_export import Choice, export_solver
from dga2d.runtime.terminal.output import write_file
from dga2d.store import EventStore, open_store

if TYPE_CHECKING:
    import networkx

T = TypeVar("T")


@dataclass(frozen=True)
class Program:
    """An evolved algorithm: one implementation per position."""

    operators: tuple[str, ...]
    implementations: tuple[str, ...]
    sources: tuple[str, ...] = field(repr=False)
    """Python text of each."""
    generation: int
    split: str
    """Where its figures come from: ``validation`` or ``training batch``."""
    gap_percent: float | None
    """Of a domain with a score of its own, minus a hundred times `score`."""
    interval_percent: tuple[float, float] | None
    """95 % interval over the instances; ``None`` for a training batch or a single instance."""
    instances: int
    is_safe_baseline: bool
    """Nothing evolved was steadily better than the safe baseline, so this is it."""
    score: float | None = None
    """The domain's own score, higher is better; ``None`` where gaps are measured."""

    def __str__(self) -> str:
        return " → ".join(self.operators)


@dataclass(frozen=True)
class Solution:
    """A verified solution."""

    instance: str
    algorithm: str
    objective: float
    gap_percent: float | None
    """``None`` where nothing is known of the instance."""
    sequence: NDArray[np.int32] = field(repr=False)
    """The encoding named on the domain's card."""
    metadata: dict[str, Any] = field(repr=False)
    """Further arrays of the encoding."""
    text: str = field(repr=False)
    """The solution in the format of its field."""
    elapsed_s: float
    work: int


class Run:
    """A run of a database, as it is at the moment of asking."""

    def __init__(self, url: str, name: RunId) -> None:
        self.url = url
        self.name = name
        self._known: RunState | None = None

    # -------------------------------------------------------- results

    @property
    def state(self) -> RunState:
        """The folded state after the last event."""

        async def read(store: EventStore) -> RunState:
            head = await store.head(self.name)
            if self._known is not None and self._known.seq == head.seq:
                return self._known
            return await state_at(store, self.name, None, None)

        self._known = self._read(read)
        return self._known

    @property
    def status(self) -> str:
        """``running``, ``paused``, ``completed`` or ``failed``."""
        return self.state.status

    @property
    def reason(self) -> str:
        """Why the run is paused, completed or failed; empty while it is none of these."""
        return self.state.reason

    @property
    def results(self) -> dict[str, Any]:
        """Best program, checkpoint, test and verdict, as ``dga2d show --json`` prints them."""
        state = self.state

        async def read(store: EventStore) -> dict[str, Any]:
            return results_view(state, await read_achievement(store, self.name, state))

        return self._read(read)

    @property
    def verdict(self) -> str:
        """The one sentence on what the run achieved."""
        verdict = self.results["verdict"]
        return "nothing has been validated yet" if verdict is None else str(verdict["sentence"])

    @property
    def best(self) -> Program:
        """What ``solve`` and ``solver`` use: the best validated algorithm, or before any validation the best
        on the training batch.

        Raises
        ------
        RunStateError
            No algorithm has been scored yet.
        """
        state, results = self.state, self.results
        program = state.checkpoint or state.best
        if program is None:
            raise RunStateError(f"run {self.name} has not scored any algorithm yet")
        view = results["best" if state.checkpoint is None else "checkpoint"]

        async def read(store: EventStore) -> tuple[str, ...]:
            sources = SourceReader(store)
            return tuple([(await sources.implementation(state, step)).source for step in program.steps])

        bounds = view["interval_percent"]
        return Program(
            operators=tuple(step.operator for step in program.steps),
            implementations=tuple(step.implementation for step in program.steps),
            sources=self._read(read),
            generation=program.generation,
            split="training batch" if state.checkpoint is None else "validation",
            gap_percent=view["gap_percent"],
            interval_percent=None if bounds is None else (bounds[0], bounds[1]),
            instances=view["instances"],
            is_safe_baseline=view["is_safe_baseline"],
            score=None if (measure := measure_in(view)) is GAP else measure.optional(view["gap_percent"]),
        )

    def view(self, *, generation: int | None = None, seq: int | None = None) -> dict[str, Any]:
        """Return what ``dga2d show --json`` prints: the state now, when a generation had closed, or after an
        event.
        """
        return threads.call(partial(read_state_view, self.url, self.name, seq, generation))

    # -------------------------------------------------------- tables

    @property
    def history(self) -> Any:
        """A row per closed generation (``pandas.DataFrame``, or a list of dictionaries without pandas)."""
        state = self.state
        return table(measured_rows(history_view(state), measure_of(state.header)))

    @property
    def evaluations(self) -> Any:
        """A row per evaluation, in the order of the log (as `history`)."""
        state, notes = self._read(lambda store: read_run(store, self.name))
        return table(measured_rows(evaluation_rows(notes, state.header), measure_of(state.header)))

    @property
    def calls(self) -> Any:
        """A row per call of the language model (as `history`)."""
        return table(calls_view(self.state.ledger))

    @property
    def graph(self) -> networkx.DiGraph[str]:
        """The operator graph. Nodes have ``credit`` and ``implementations``, but for ``START`` and ``END``;
        edges have ``credit``.
        """
        import networkx as nx

        state = self.state
        made: networkx.DiGraph[str] = nx.DiGraph()
        epsilon = state.settings.epsilon
        for operator, pool in state.pools.items():
            credit = state.credits.operator_credit(pool, epsilon)
            made.add_node(str(operator), credit=credit, implementations=tuple(map(str, pool)))
        for edge in sorted(state.graph.edges) if state.graph is not None else ():
            credit = state.credits.edge_credit(edge, state.pools, epsilon)
            made.add_edge(str(edge[0]), str(edge[1]), credit=credit)
        return made

    # -------------------------------------------------------- the algorithm at work

    def solve(
        self,
        instance: FilePath,
        *,
        time_limit: float | None = None,
        work: int | None = None,
        seed: int = 0,
        data: FilePath | None = None,
    ) -> Solution:
        """Solve an instance, a file or the name of a known one, with `best`, in the sandbox.

        Without `time_limit` (seconds) or `work` (units), it has 10 seconds.

        Raises
        ------
        DomainError, UsageError
            The instance cannot be had.
        SolveFailedError
            The algorithm failed on it.
        """
        folder = None if data is None else Path(data)
        domain = self.state.header.domain
        settings = settings_for(domain, {"time_limit": 10.0}, {"time_limit": time_limit, "work": work})
        solved = threads.call(
            partial(
                solve_instance, domain, str(instance), self.url, self.name, "safe", settings, seed, folder
            )
        )
        return Solution(
            instance=solved.instance.key,
            algorithm=solved.algorithm,
            objective=solved.objective,
            gap_percent=percent(solved.gap),
            sequence=solved.state.sequence,
            metadata=solved.state.metadata,
            text=solved.solution_text,
            elapsed_s=solved.elapsed_s,
            work=solved.work,
        )

    def solver(
        self, path: FilePath = "solver.py", *, choice: Choice | None = None, generation: int | None = None
    ) -> Path:
        """Write an algorithm as one Python file that needs numpy and numba only; return its path.

        `choice` is `best`'s unless it is ``"checkpoint"`` or ``"best"`` (of the training batch); with
        `generation` it is that of the run as it stood then.
        """
        now = datetime.now(UTC)
        exported = threads.call(partial(export_solver, self.url, self.name, now, choice, generation))
        write_file(Path(path), exported.text)
        return Path(path)

    def report(self, path: FilePath | None = None) -> Path:
        """Write the report and return its path, ``RUN.html`` by default; ``.md`` makes it Markdown."""
        target = Path(f"{self.name}.html" if path is None else path)
        data = threads.call(partial(read_report_data, self.url, self.name))
        write_file(target, render_markdown(data) if target.suffix == ".md" else render_html(data))
        return target

    # -------------------------------------------------------- the log

    def replay(self, *, verify: bool = False) -> dict[str, Any]:
        """Fold the log from its first event with all checks; with `verify` make every decision again.

        Returns what ``dga2d replay --json`` prints; ``difference`` is ``None`` if everything holds.
        """
        return threads.call(partial(replay_run, self.url, self.name, verify))

    def fork(self, *, generation: int, run_id: str | None = None, **settings: Any) -> Run:
        """Return a new, paused run that shares this one's events up to a closed generation; ``resume()`` goes
        on with it.

        Raises
        ------
        RunStateError
            The generation was never closed, or a setting cannot be changed.
        """
        fork = forking.Fork(self.name, generation, settings, None if run_id is None else RunId(run_id))
        return Run(self.url, threads.call(partial(forking.create_fork, self.url, fork)).run_id)

    def resume(
        self,
        *,
        data: FilePath | None = None,
        evaluator: Any = None,
        callbacks: Sequence[Callback] = (),
        progress: bool | None = None,
        **settings: Any,
    ) -> Run:
        """Go on with a run that was paused or killed, or give it more to do (``generations=100``).

        The settings hold from now on; the other arguments are those of `evolve`.
        """
        outside = outside_evaluator(evaluator)
        follow(self._resume(settings, data, outside), callbacks, progress, outside)
        return self

    async def resume_async(
        self,
        *,
        data: FilePath | None = None,
        evaluator: Any = None,
        callbacks: Sequence[Callback] = (),
        progress: bool | None = None,
        **settings: Any,
    ) -> Run:
        """Go on as `resume` does, in the running event loop."""
        outside = outside_evaluator(evaluator)
        await follow_async(self._resume(settings, data, outside), callbacks, progress, outside)
        return self

    def test(
        self,
        *,
        force: bool = False,
        hand_tuned: bool = False,
        data: FilePath | None = None,
        evaluator: Any = None,
        progress: bool | None = None,
    ) -> Run:
        """Evaluate `best` and the safe baseline on the held-out instances, once; `force` tests again.

        With `hand_tuned` the whole library's safe baseline takes part, where the run began with another.
        """
        outside = outside_evaluator(evaluator)
        follow(self._test(force, hand_tuned, data, outside), (), progress, outside)
        return self

    async def test_async(
        self,
        *,
        force: bool = False,
        hand_tuned: bool = False,
        data: FilePath | None = None,
        evaluator: Any = None,
        progress: bool | None = None,
    ) -> Run:
        """Test as `test` does, in the running event loop."""
        outside = outside_evaluator(evaluator)
        await follow_async(self._test(force, hand_tuned, data, outside), (), progress, outside)
        return self

    # -------------------------------------------------------- inside

    def _read(self, read: Callable[[EventStore], Awaitable[T]]) -> T:
        async def opened() -> T:
            async with open_store(self.url, create=False, read_only=True) as store:
                return await read(store)

        return threads.call(opened)

    def _resume(
        self, settings: dict[str, Any], data: FilePath | None, outside: OutsideKind | None
    ) -> Session:
        folder = None if data is None else Path(data)
        return partial(
            sessions.resume, self.url, self.name, changed=settings, data_dir=folder, outside=outside
        )

    def _test(
        self, force: bool, hand_tuned: bool, data: FilePath | None, outside: OutsideKind | None
    ) -> Session:
        test = partial(sessions.hold_out_test, self.url, self.name, force=force, hand_tuned=hand_tuned)
        return partial(test, data_dir=None if data is None else Path(data), outside=outside)

    def __repr__(self) -> str:
        state = self.state
        return f"<run {self.name}: {state.header.domain}, {state.status}, {state.completed} generations>"

    def _repr_html_(self) -> str:
        state, results = self.state, self.results
        measure = measure_of(state.header)
        programs = [
            (name, f"{measure.word} {figure_text(results[key])}", algorithm_text(results[key]))
            for key, name in (("checkpoint", "validation"), ("best", "training batch"))
            if results[key] is not None
        ]
        plot = charts.convergence(history_view(state), measure=measure)
        return render(
            "run.html.j2",
            run=self.name,
            state=state,
            verdict=self.verdict,
            programs=programs,
            operators=[step.operator for step in (state.checkpoint or state.best).steps]  # type: ignore[union-attr]
            if programs
            else [],
            scale=measure.scale(results["gaps_against"]),
            chart=None if plot is None else charts.draw_chart(plot),
        )
