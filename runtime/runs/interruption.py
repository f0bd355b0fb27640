"""SIGINT and SIGTERM: the first one stops a command at its next event, the second ends it at once; and
pausing a run that another process carries out.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn, Protocol

import anyio

from dga2d.events import Dga2dError, RunId
from dga2d.runtime.errors import ExitCode, RunStateError
from dga2d.store import EventStore, RunSummary, UnknownRunError, open_store

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_STDERR = 2


class StoppedWhileStartingError(Dga2dError):
    """A signal came before the agents began to work; `go_on` is the command that continues, if any."""

    exit_code = ExitCode.STOPPED

    def __init__(self, signal_name: str, go_on: str | None) -> None:
        self.signal_name = signal_name
        self.go_on = go_on
        hint = "nothing was recorded" if go_on is None else f"`{go_on}` goes on"
        super().__init__(f"stopped by {signal_name} while starting; {hint}")


class Interrupted(KeyboardInterrupt):
    """What the first signal raises where no scope can be cancelled.

    It is a class of its own because CPython ends a process by SIGINT once a plain `KeyboardInterrupt` has
    passed through an ``exec`` of a string (as in the import of a named tuple), even if it was caught.
    """


class Announcer(Protocol):
    """Tells a person what a signal did. Its methods are called from the signal handler."""

    def announce_stop(self) -> None:
        """Say that the command stops at the next event: the first signal has come."""

    def announce_abort(self) -> None:
        """Leave the terminal as it was: the process ends right now."""


class Interruption:
    """Handles the signals with which a user stops a command.

    The first signal ends what is under way: inside ``cancels`` by cancelling a scope, elsewhere by raising
    `Interrupted`. The second ends the process wherever it is; the log is intact at any moment.
    """

    def __init__(self, announcer: Announcer | None = None, go_on: str | None = None) -> None:
        self.signal_name: str | None = None
        self.go_on = go_on
        """The command that continues the run; ``None`` while nothing of it is in the log."""
        self._announcer = announcer
        self._act: Callable[[], object] = _raise

    @contextmanager
    def handles_signals(self) -> Iterator[None]:
        """Handle the signals for the length of the block; do nothing outside the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = [(number, signal.signal(number, self._on_signal)) for number in SIGNALS]
        told, sys.unraisablehook = sys.unraisablehook, _quiet_about_interruption(sys.unraisablehook)
        try:
            yield
        finally:
            sys.unraisablehook = told
            for number, handler in before:
                signal.signal(number, handler)

    @contextmanager
    def cancels(self, scope: anyio.CancelScope) -> Iterator[None]:
        """Let the first signal cancel `scope` during the block; cancel it now if the signal has come."""
        loop = asyncio.get_running_loop()
        before, self._act = self._act, lambda: loop.call_soon_threadsafe(scope.cancel)
        if self.signal_name is not None:
            scope.cancel()
        try:
            yield
        finally:
            self._act = before

    @contextmanager
    def after_hours(self, hours: float | None) -> Iterator[None]:
        """Ask for an end when the block has lasted so long; never for ``None``."""
        if hours is None:
            yield
            return
        timer = threading.Timer(3600.0 * hours, self.request, (f"the limit of {hours:g} hours",))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def request(self, name: str) -> None:
        """Ask for an end from any thread, as the first signal does; `name` says who asks."""
        if self.signal_name is None:
            self.signal_name = name
            if self._announcer is not None:
                self._announcer.announce_stop()
            if self._act is not _raise:  # else nothing is under way yet, and `cancels` will see the name
                self._act()

    def finish(self) -> None:
        """Ignore a first signal from now on: all work is done and recorded."""
        self._act = lambda: None

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.signal_name is not None:
            self._end_at_once()
        self.signal_name = signal.Signals(number).name
        if self._announcer is not None:
            self._announcer.announce_stop()
        self._act()

    def _end_at_once(self) -> NoReturn:
        hint = "" if self.go_on is None else f"; `{self.go_on}` goes on from the last event"
        try:
            if self._announcer is not None:
                self._announcer.announce_abort()
            os.write(_STDERR, f"stopped at once{hint}\n".encode())
        finally:
            os._exit(ExitCode.STOPPED)


def _quiet_about_interruption(told: Callable[[Any], object]) -> Callable[[Any], None]:
    """Return a hook that passes over an `Interrupted` of a callback, whose exceptions Python only tells of;
    `cancels` will see the signal."""

    def hook(unraisable: Any) -> None:
        if not isinstance(unraisable.exc_value, Interrupted):
            told(unraisable)

    return hook


def _raise() -> NoReturn:
    raise Interrupted


POLL_S = 0.2
"""Seconds between two looks at whether the run is free."""


async def pause_run(url: str, run_id: str, patience_s: float) -> dict[str, Any]:
    """Ask the process that carries out a run to stop at the next event, as Ctrl-C there does, and wait until
    it has let the run go.

    Raises
    ------
    UnknownRunError
        There is no such run.
    RunStateError
        Nobody carries it out, or a process of another machine does, or it did not stop within `patience_s`.
    """
    async with open_store(url, create=False, read_only=True) as store:
        run = await _summary(store, run_id)
        if run.holder is None:
            raise RunStateError(f"run {run_id} is not under way; `dga2d resume {run_id}` goes on with it")
        told = f"process {run.holder.pid} on {run.holder.host.partition('/')[0]}"
        if not run.holder.interrupt():
            raise RunStateError(f"run {run_id} is carried out by {told}; pause it there, with Ctrl-C")
        with anyio.move_on_after(patience_s):
            while run.holder is not None:
                await anyio.sleep(POLL_S)
                run = await _summary(store, run_id)
        if run.holder is not None:
            raise RunStateError(
                f"{told} was asked to pause run {run_id} and still holds it; wait, or ask again"
            )
        return {"run": run_id, "was_held_by": told, "events": run.head_seq}


async def _summary(store: EventStore, run_id: str) -> RunSummary:
    for run in await store.runs():
        if run.run_id == run_id:
            return run
    raise UnknownRunError(RunId(run_id))
