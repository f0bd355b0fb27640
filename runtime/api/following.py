"""Follow a session: its progress, its callbacks, and how it is stopped."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import anyio

from dga2d.events import RecordedEvent
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.api import threads
from dga2d.runtime.api.evaluators import OutsideKind, ProcessEvaluator
from dga2d.runtime.api.notebook import NotebookProgress, is_notebook
from dga2d.runtime.runs.interruption import Interruption, StoppedWhileStartingError
from dga2d.runtime.runs.sessions import Finished
from dga2d.runtime.terminal.progress import Progress, show_progress
from dga2d.runtime.terminal.run_metrics import Workload

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
