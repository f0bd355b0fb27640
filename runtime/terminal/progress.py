"""Progress of a run on stderr: a live view on a terminal, a line per event of note elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TextIO

from dga2d.events import RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.work_rates import BASELINE
from dga2d.runtime.inspection.call_views import rejections_view
from dga2d.runtime.inspection.measures import measure_of
from dga2d.runtime.inspection.views import (
    Failures,
    comparison_text,
    comparison_view,
    figure_text,
    gap_of,
    unmeasured_work,
)
from dga2d.runtime.terminal.output import printable
from dga2d.runtime.terminal.phase import clock, phase, time_left_s
from dga2d.runtime.terminal.run_metrics import RunMetrics, Workload

if TYPE_CHECKING:
    from rich.console import RenderableType

FRAMES_PER_SECOND = 4
SILENCE_S, FIRST_SILENCE_S, FIRST_STATUS_S = 30.0, 1.0, 5.0
"""Longest time without a line where a run writes lines; at its beginning, when a mistake is told sooner; and
until what is going on is told for the first time, with the time left."""
STOPPING = (
    "stopping: evaluations and calls under way are given up, the pause is recorded, the workers end; "
    "a second Ctrl-C stops at once, and the log is whole either way"
)


class Progress(Protocol):
    """What the user of a command that writes a log sees meanwhile."""

    def __call__(self, state: RunState, event: RecordedEvent) -> None:
        """Take in a new event, with the state after it."""

    def show_workload(self, workload: Workload) -> None:
        """Show how busy the evaluation workers are from now on: all of them are ready."""

    def announce_stop(self) -> None:
        """Say that the command stops at the next event; called from a signal handler."""

    def announce_abort(self) -> None:
        """Leave the terminal as it was: the process ends right now; called from a signal handler."""


class ProgressLines:
    """Watches a run and writes a line for every event worth knowing about.

    `pulse`, called every now and then, writes what is going on where nothing was written for `SILENCE_S`.
    On a terminal the last line counts the evaluations of the open generation, unless `counts` is false.
    `stream` is stderr unless given.
    """

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic, counts: bool = True
    ) -> None:
        stream = sys.stderr if stream is None else stream
        self._stream = stream
        self._clock = clock
        self._start = clock()
        self._written_at, self._has_begun, self._has_told = self._start, False, False
        self._counts = counts and stream.isatty()
        self._evaluations = 0
        self._state = RunState()
        self._metrics = RunMetrics(clock)
        self._failures = Failures()
        """Of the open generation's training evaluations."""

    def __call__(self, state: RunState, event: RecordedEvent) -> None:
        payload, self._state = event.payload, state
        self._metrics.record_event(event)
        if isinstance(payload, p.GraphInitialized):
            self._line(f"graph: {len(payload.operators)} operators, {len(payload.edges)} edges")
        elif isinstance(payload, p.EvaluationRecorded):
            self._evaluations += 1
            if payload.failure is not None and payload.split == "train":
                self._failures.note(payload.failure, payload.diagnostic, payload.instance)
            self._count(payload)
        elif isinstance(payload, p.GenerationCompleted):
            self._generation(state, payload)
        elif isinstance(payload, p.ImplementationAdded | p.ImplementationReplaced):
            self._line(f"  + implementation {payload.implementation}")
        elif isinstance(payload, p.ImplementationDeleted):
            self._line(f"  - implementation {payload.implementation}")
        elif isinstance(payload, p.EdgeReplaced):
            removed = ", ".join("→".join(edge) for edge in payload.removed)
            added = ", ".join("→".join(edge) for edge in payload.added)
            self._line(f"  ~ edge {removed} replaced by {added}")
        elif isinstance(payload, p.OperatorAdded):
            self._line(f"  + operator {payload.operator}")
        elif isinstance(payload, p.OperatorRetired):
            self._line(f"  - operator {payload.operator}, used {payload.uses} times")
        elif isinstance(payload, p.KernelReplaced):
            places = len(payload.replaced)
            self._line(f"  ^ kernel {payload.kernel}: {payload.factor:.2f} times as fast in {places} codes")
        elif isinstance(payload, p.WorkRateMeasured) and payload.subject == BASELINE:
            if (sentence := unmeasured_work(state)) is not None:
                self._line(f"  ! {sentence}")
        elif isinstance(payload, p.CallsSuspended):
            self._line(f"  ! model calls wait: {payload.reason}")
        elif isinstance(payload, p.CallsResumed):
            self._line(f"  ! model calls go on after {payload.waited_s:.0f} s")
        elif isinstance(payload, p.IncumbentSelected) and payload.contender:
            race = state.generation.race if state.generation is not None else None
            change = "" if race is None else f", {race.contenders[payload.contender].change}"
            walk = " → ".join(step.operator for step in payload.pipeline)
            self._line(f"  > incumbent: {walk}{change}")
        elif isinstance(payload, p.CheckpointSelected):
            self._line(f"  * checkpoint: {_checkpoint(state, payload)}")

    def show_workload(self, workload: Workload) -> None:
        self._metrics.workload = workload

    def announce_stop(self) -> None:
        self._metrics.is_stopping = True
        self._line(STOPPING)

    def pulse(self) -> None:
        """Say what is going on if nothing was said for a while."""
        silence_s = self._clock() - self._written_at
        if not self._has_begun and silence_s >= FIRST_SILENCE_S:
            self._line(f"starting: {phase(self._state)}")
        is_first = self._state.generation is not None and not self._has_told
        if silence_s < (FIRST_STATUS_S if is_first else SILENCE_S):
            return
        self._has_told |= is_first
        measured = self._metrics.measure(self._state)
        facts = [STOPPING.partition(";")[0] if measured.is_stopping else phase(self._state)]
        if measured.compiling:
            facts.append(f"compiling {measured.compiling} implementations")
        if measured.workers is not None:
            facts.append(f"workers busy {measured.busy} of {measured.workers}")
        left = time_left_s(self._state, measured)
        facts.append(
            self._elapsed_text() if left is None else f"{self._elapsed_text()}, about {clock(left)} left"
        )
        self._line(f"  … {'; '.join(facts)}")

    def announce_abort(self) -> None:
        if self._counts:
            self._line("")

    def _generation(self, state: RunState, payload: p.GenerationCompleted) -> None:
        summary = state.history[payload.generation]
        total = state.settings.generations
        name = f"generation {summary.number:>{len(str(total))}}/{total}"
        if not state.settings.evolves_pipelines:
            name = f"round {summary.number:>3}"
        self._line(
            f"{name}  "
            f"best {self._gap(state, summary.best)}  so far {self._gap(state, summary.best_so_far)}  "
            f"failed {summary.failures}/{summary.candidates}  "
            f"calls {state.ledger.used}/{state.ledger.limit}  {self._elapsed_text()}"
        )
        told = self._failures.sentence(summary.failures, summary.candidates)
        if summary.failures and told is not None:
            self._line(f"  ! {told}")
        self._failures = Failures()
        sentence = rejections_view(state.ledger)["sentence"]
        if sentence is not None:
            self._line(f"  ! {sentence}")

    def _count(self, payload: p.EvaluationRecorded) -> None:
        if not self._counts:
            return
        label = "test" if payload.split == "test" else f"{payload.split} {payload.generation}"
        self._stream.write(f"\r\x1b[K{label}: {self._evaluations} evaluations  {self._elapsed_text()}")
        self._stream.flush()

    @staticmethod
    def _gap(state: RunState, score: float) -> str:
        gap = gap_of(score, state.settings.failure_reward)
        return "  failed" if gap is None else f"{measure_of(state.header).text(gap):>8}"

    def _elapsed_text(self) -> str:
        seconds = int(self._clock() - self._start)
        return f"{seconds // 60}:{seconds % 60:02d}"

    def _line(self, text: str) -> None:
        text = printable(text)
        self._written_at, self._has_begun = self._clock(), True
        self._stream.write(f"\r\x1b[K{text}\n" if self._counts else f"{text}\n")
        self._stream.flush()


def _checkpoint(state: RunState, payload: p.CheckpointSelected) -> str:
    from dga2d.runtime.inspection.verdict import estimate_open_validation  # numpy

    estimate = estimate_open_validation(state, payload.pipeline)
    measure = measure_of(state.header)
    gap = {"gap_percent": gap_of(payload.score, state.settings.failure_reward)}
    name = "the safe baseline, " if payload.pipeline == state.header.baseline else ""
    figure = figure_text({**(gap if estimate is None else estimate.view()), **measure.entry})
    text = f"{name}validation {measure.word} {figure}"
    validation = None if state.generation is None else state.generation.validation
    if validation is not None and validation.comparison is not None and validation.pipelines is not None:
        number = validation.pipelines.index(payload.pipeline)
        if (view := comparison_view(validation.comparison, number)) is not None:
            text += f"; beside the one before {comparison_text(view, measure)}"
            if view["over_baseline"] is not None:
                text += f", beside the safe baseline {comparison_text(view['over_baseline'], measure)}"
    return text


class LiveProgress:
    """Shows the live view (`live_view`) for the length of its block. The last frame stays, unless nothing has
    begun."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._state = RunState()
        self._metrics = RunMetrics(time.monotonic)
        console = Console(stderr=True)
        self._live = Live(get_renderable=self._frame, console=console, refresh_per_second=FRAMES_PER_SECOND)

    def __enter__(self) -> LiveProgress:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.transient = self._state.started is None
        self._live.stop()

    def __call__(self, state: RunState, event: RecordedEvent) -> None:
        self._metrics.record_event(event)
        self._state = state

    def show_workload(self, workload: Workload) -> None:
        self._metrics.workload = workload

    def announce_stop(self) -> None:
        self._metrics.is_stopping = True

    def announce_abort(self) -> None:
        self._live.console.show_cursor(True)
        self._live.console.line()

    def _frame(self) -> RenderableType:
        from dga2d.runtime.terminal.live_view import live_view

        state = self._state
        return live_view(state, self._metrics.measure(state))


class Silence:
    """Shows nothing (``--quiet``)."""

    def __call__(self, state: RunState, event: RecordedEvent) -> None: ...

    def show_workload(self, workload: Workload) -> None: ...

    def announce_stop(self) -> None: ...

    def announce_abort(self) -> None: ...


silent = Silence()


def is_live_terminal(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return whether `stream` can redraw a view and the user has not refused it."""
    is_dumb = environment.get("TERM", "") in ("", "dumb", "unknown")
    return stream.isatty() and not is_dumb and not environment.get("NO_COLOR")


@contextmanager
def show_progress(quiet: bool, as_json: bool) -> Iterator[Progress]:
    """Show nothing, lines, or on a terminal that can redraw the live view, for the length of the block."""
    is_capable = is_live_terminal(sys.stderr, os.environ)
    if quiet:
        yield silent
    elif is_capable and not as_json:
        with LiveProgress() as live:
            yield live
    else:
        lines = ProgressLines(counts=is_capable)
        with _pulsing(lines):
            yield lines


@contextmanager
def _pulsing(lines: ProgressLines) -> Iterator[None]:
    """Call ``lines.pulse`` every second, whatever the event loop is at."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(1.0):
            lines.pulse()

    thread = threading.Thread(target=beat, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
