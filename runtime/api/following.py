"""Follow a session: its progress (in notebooks, too, where everything is escaped), its callbacks, and how it
is stopped.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import anyio

from dga2d.events import RecordedEvent
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.api import threads
from dga2d.runtime.api.evaluators import OutsideKind, ProcessEvaluator
from dga2d.runtime.inspection.call_views import rejections_view
from dga2d.runtime.inspection.measures import GAP, measure_of
from dga2d.runtime.inspection.views import best_gap
from dga2d.runtime.report import charts
from dga2d.runtime.report.render import environment
from dga2d.runtime.runs.interruption import Interruption, StoppedWhileStartingError
from dga2d.runtime.runs.sessions import Finished
from dga2d.runtime.terminal.phase import clock, phase, time_left_s
from dga2d.runtime.terminal.progress import Progress, show_progress
from dga2d.runtime.terminal.run_metrics import RunMetrics, Workload

REDRAWN_S = 0.5
"""Least seconds between two frames."""


def render(template: str, **values: Any) -> str:
    """Return a template of this package, filled in."""
    found = environment(escapes=True, package="dga2d.runtime.api").get_template(template)
    return found.render(plot=charts, **values)


def is_notebook() -> bool:
    """Return whether the program runs in a kernel of Jupyter."""
    loaded = sys.modules.get("IPython")
    shell = None if loaded is None else loaded.get_ipython()
    return hasattr(shell, "kernel")


class NotebookProgress:
    """Shows what a run does in the cell that started it; the last frame stays."""

    def __init__(self) -> None:
        self._state = RunState()
        self._metrics = RunMetrics(time.monotonic)
        self._drawn_at = time.monotonic()
        self._handle: Any = None

    def __enter__(self) -> NotebookProgress:
        from IPython.display import display

        self._handle = display(self, display_id=True)
        return self

    def __exit__(self, *error: object) -> None:
        self._handle.update(self)

    def __call__(self, state: RunState, event: RecordedEvent) -> None:
        self._metrics.record_event(event)
        self._state = state
        self._redraw_in_event_loop()

    def show_workload(self, workload: Workload) -> None:
        self._metrics.workload = workload

    def announce_stop(self) -> None:
        self._metrics.is_stopping = True

    def announce_abort(self) -> None: ...

    def refresh(self) -> None:
        """Draw a new frame; called in the thread of the cell."""
        self._drawn_at = time.monotonic()
        self._handle.update(self)

    def _redraw_in_event_loop(self) -> None:
        """Draw where nobody else calls `refresh`: events come in the thread of the cell itself."""
        import threading

        is_cell = threading.current_thread() is threading.main_thread()
        if is_cell and time.monotonic() - self._drawn_at > REDRAWN_S:
            self.refresh()

    def _repr_html_(self) -> str:
        state = self._state
        measured = self._metrics.measure(state)
        left = time_left_s(state, measured)
        gap = best_gap(state)
        measure = GAP if state.started is None else measure_of(state.header)
        return render(
            "progress.html.j2",
            run=measured.run,
            now="stopping at the next event" if measured.is_stopping else phase(state),
            done=state.completed,
            total=state.settings.generations
            if state.started is not None and state.settings.evolves_pipelines
            else None,
            elapsed=clock(measured.elapsed_s),
            left=None if left is None else clock(left),
            evaluations=measured.evaluations,
            calls=state.ledger.used,
            word=measure.word,
            figure="–" if gap is None else measure.text(gap),
            warning=rejections_view(state.ledger)["sentence"],
        )


Callback = Callable[[RunState, RecordedEvent], object]
"""Gets every new event with the state after it."""


class Session(Protocol):
    """What a command does with a run: one function of `dga2d.runtime.runs.sessions`, all else bound."""

    def __call__(self, *, watcher: Progress, stop: Interruption) -> Awaitable[Finished]: ...


class StopEvolution(Exception):
    """What a callback raises to pause the run in good order."""


class _Watcher:
    """Shows every event and tells the callbacks of it."""

    def __init__(self, display: Progress, callbacks: Sequence[Callback]) -> None:
        self._display = display
        self._callbacks = callbacks
        self.stop = Interruption(display)

    def __call__(self, state: RunState, event: RecordedEvent) -> None:
        self._display(state, event)
        for callback in self._callbacks:
            try:
                callback(state, event)
            except StopEvolution:
                self.stop.request("a callback")

    def show_workload(self, workload: Workload) -> None:
        self._display.show_workload(workload)

    def announce_stop(self) -> None:
        self._display.announce_stop()

    def announce_abort(self) -> None:
        self._display.announce_abort()


@contextmanager
def _display(progress: bool | None) -> Iterator[Progress]:
    if progress is not False and is_notebook():
        with NotebookProgress() as shown:
            yield shown
    else:
        with show_progress(quiet=progress is False, as_json=False) as shown:
            yield shown


def follow(
    session: Session,
    callbacks: Sequence[Callback],
    progress: bool | None,
    outside: OutsideKind | None = None,
    max_hours: float | None = None,
) -> Finished:
    """Carry out `session` in a thread of its own and show what it does."""
    try:
        with _display(progress) as display:
            watcher = _Watcher(display, callbacks)
            refresh = display.refresh if isinstance(display, NotebookProgress) else lambda: None
            work = functools.partial(_carry_out, session, watcher, max_hours)
            return threads.follow(work, watcher.stop, refresh)
    finally:
        _close(outside)


async def follow_async(
    session: Session,
    callbacks: Sequence[Callback],
    progress: bool | None,
    outside: OutsideKind | None = None,
    max_hours: float | None = None,
) -> Finished:
    """Carry out `session` in the running event loop and show what it does."""
    try:
        with _display(progress) as display:
            return await _carry_out(session, _Watcher(display, callbacks), max_hours)
    finally:
        _close(outside)


def _close(outside: OutsideKind | None) -> None:
    if isinstance(outside, ProcessEvaluator):
        outside.close()


async def _carry_out(session: Session, watcher: _Watcher, max_hours: float | None) -> Finished:
    stop = watcher.stop
    with anyio.CancelScope() as scope, stop.after_hours(max_hours), stop.cancels(scope):
        return await session(watcher=watcher, stop=watcher.stop)
    raise StoppedWhileStartingError(watcher.stop.signal_name or "a signal", watcher.stop.go_on)
