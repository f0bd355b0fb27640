"""Progress of a run on stderr: one line per happening, readable on 80 columns, with or without terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

from dga2d.events import RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.views import gap_of


class ProgressLines:
    """Watches a run and writes what a person wants to know.

    On a terminal the last line counts the evaluations of the open generation. `stream` is stderr unless
    given.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        stream = sys.stderr if stream is None else stream
        self._stream = stream
        self._clock = clock
        self._start = clock()
        self._is_terminal = stream.isatty()
        self._evaluations = 0

    def __call__(self, state: RunState, event: RecordedEvent) -> None:
        payload = event.payload
        if isinstance(payload, p.GraphInitialized):
            self._line(f"graph: {len(payload.operators)} operators, {len(payload.edges)} edges")
        elif isinstance(payload, p.EvaluationRecorded):
            self._evaluations += 1
            self._count(state, payload)
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
        elif isinstance(payload, p.CallsSuspended):
            self._line(f"  ! model calls wait: {payload.reason}")
        elif isinstance(payload, p.CallsResumed):
            self._line(f"  ! model calls go on after {payload.waited_s:.0f} s")
        elif isinstance(payload, p.CheckpointSelected):
            self._line(f"  * checkpoint: validation gap {self._gap(state, payload.score).strip()}")

    def _generation(self, state: RunState, payload: p.GenerationCompleted) -> None:
        summary = state.history[payload.generation]
        total = state.settings.generations
        self._line(
            f"generation {summary.number:>{len(str(total))}}/{total}  "
            f"best {self._gap(state, summary.best)}  so far {self._gap(state, summary.best_so_far)}  "
            f"failed {summary.failures}/{summary.candidates}  "
            f"calls {state.ledger.used}/{state.ledger.limit}  {self._elapsed()}"
        )

    def _count(self, state: RunState, payload: p.EvaluationRecorded) -> None:
        if not self._is_terminal:
            return
        label = "test" if payload.split == "test" else f"{payload.split} {payload.generation}"
        self._stream.write(f"\r\x1b[K{label}: {self._evaluations} evaluations  {self._elapsed()}")
        self._stream.flush()

    @staticmethod
    def _gap(state: RunState, score: float) -> str:
        gap = gap_of(score, state.settings.failure_reward)
        return "  failed" if gap is None else f"{gap:6.2f} %"

    def _elapsed(self) -> str:
        seconds = int(self._clock() - self._start)
        return f"{seconds // 60}:{seconds % 60:02d}"

    def _line(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text}\n" if self._is_terminal else f"{text}\n")
        self._stream.flush()


def silent(state: RunState, event: RecordedEvent) -> None:
    """Watches without a word (``--quiet``)."""
