"""Metrics of a run while it is watched: what the clock and the worker pool say, which the state does not."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from dga2d.events import RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.state.run_state import RunState


class Workload(Protocol):
    """How busy the evaluation workers are."""

    @property
    def workers(self) -> int:
        """Number of evaluation workers."""

    @property
    def busy(self) -> int:
        """How many of them evaluate at this moment."""

    @property
    def compiling(self) -> int:
        """How many implementations are compiled for the first time at this moment."""


RATE_WINDOW_S = 60.0
"""Evaluations per second are those of the last minute."""
EDITS_KEPT = 4
GENERATIONS_KEPT = 10
"""Durations from which the time left is estimated."""


@dataclass(frozen=True)
class AcceptedEdit:
    """An accepted edit of graph or pools."""

    generation: int
    changes: tuple[str, ...]
    """What was removed and what was added, in words."""


@dataclass(frozen=True)
class Measurements:
    """What was measured since the run has been watched."""

    run: str = ""
    """Name of the run; empty before its first event."""
    elapsed_s: float = 0.0
    evaluations: int = 0
    evaluations_per_s: float | None = None
    """Over the last minute; ``None`` before the first evaluation."""
    workers: int | None = None
    """Evaluation workers; ``None`` until they are ready."""
    busy: int | None = None
    compiling: int = 0
    """Implementations compiled for the first time at this moment."""
    generation_s: float = 0.0
    """Seconds the open generation has taken so far."""
    generation_times_s: tuple[float, ...] = ()
    """Seconds of the last generations that were watched from beginning to end."""
    suspended_s: float | None = None
    """Seconds that calls have waited for the model's endpoint; ``None`` while it works."""
    edits: tuple[AcceptedEdit, ...] = ()
    """The last accepted ones, latest last."""
    is_stopping: bool = False
    """The user has asked the command to stop."""


class RunMetrics:
    """Measures a run; `clock` counts seconds from any origin.

    One thread may call `record_event` while another calls `measure`.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._start = clock()
        self._run = ""
        self._evaluations = 0
        self._recent: deque[float] = deque()
        self._generation_start: float | None = None
        self._times: tuple[float, ...] = ()
        self._suspended_at: float | None = None
        self._edits: tuple[AcceptedEdit, ...] = ()
        self.workload: Workload | None = None
        self.is_stopping = False

    def record_event(self, event: RecordedEvent) -> None:
        """Take in a new event."""
        payload, now = event.payload, self._clock()
        self._run = event.run_id
        if isinstance(payload, p.EvaluationRecorded):
            self._evaluations += 1
            self._recent.append(now)
        elif isinstance(payload, p.GenerationStarted):
            self._generation_start = now
        elif isinstance(payload, p.GenerationCompleted):
            if self._generation_start is not None:
                self._times = (*self._times, now - self._generation_start)[-GENERATIONS_KEPT:]
            self._generation_start = None
        elif isinstance(payload, p.CallsSuspended):
            self._suspended_at = now
        elif isinstance(payload, p.CallsResumed):
            self._suspended_at = None
        if changes := changes_of(payload):
            self._edits = (*self._edits, AcceptedEdit(event.generation or 0, changes))[-EDITS_KEPT:]

    def measure(self, state: RunState) -> Measurements:
        """Return the measurements at this moment; `state` is the one after the last recorded event."""
        now = self._clock()
        while self._recent and self._recent[0] < now - RATE_WINDOW_S:
            self._recent.popleft()
        looked_s = min(RATE_WINDOW_S, now - self._start)
        load, opened, suspended = self.workload, self._generation_start, self._suspended_at
        return Measurements(
            run=self._run,
            elapsed_s=now - self._start,
            evaluations=self._evaluations,
            evaluations_per_s=len(self._recent) / looked_s if self._evaluations and looked_s > 0 else None,
            workers=None if load is None else load.workers,
            busy=None if load is None else load.busy,
            compiling=0 if load is None else load.compiling,
            generation_s=0.0 if opened is None or state.generation is None else now - opened,
            generation_times_s=self._times,
            suspended_s=now - suspended if state.suspension and suspended is not None else None,
            edits=self._edits,
            is_stopping=self.is_stopping,
        )


def changes_of(payload: p.Payload) -> tuple[str, ...]:
    """Return what an accepted edit removed and added; nothing for any other event."""
    if isinstance(payload, p.ImplementationAdded):
        return (f"+ implementation {payload.implementation}",)
    if isinstance(payload, p.ImplementationReplaced):
        return (f"- implementation {payload.removed}", f"+ implementation {payload.implementation}")
    if isinstance(payload, p.ImplementationDeleted):
        return (f"- implementation {payload.implementation}",)
    if isinstance(payload, p.OperatorAdded):
        return (f"+ operator {payload.operator}",)
    if isinstance(payload, p.OperatorRetired):
        return (f"- operator {payload.operator}",)
    if isinstance(payload, p.KernelReplaced):
        return (f"+ kernel {payload.kernel}, {payload.factor:.2f} times as fast",)
    if isinstance(payload, p.EdgeReplaced):
        removed = (f"- edge {'→'.join(edge)}" for edge in payload.removed)
        return (*removed, *(f"+ edge {'→'.join(edge)}" for edge in payload.added))
    return ()
