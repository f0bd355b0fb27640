"""What the metrics measures while events pass it, on a clock that the tests set."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.runtime.run_states import RUNNING, evaluation, event

from dga2d.events import ImplementationId, OperatorId
from dga2d.events import payloads as p
from dga2d.runtime.terminal.run_metrics import RunMetrics


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_rate_is_that_of_the_last_minute() -> None:
    now = Clock()
    metrics = RunMetrics(now)
    assert metrics.measure(RUNNING).evaluations_per_s is None
    for now.now in (1.0, 2.0, 10.0):
        metrics.record_event(event(evaluation(), 1))
    assert metrics.measure(RUNNING).evaluations_per_s == pytest.approx(0.3)
    now.now = 65.0
    assert metrics.measure(RUNNING).evaluations_per_s == pytest.approx(1 / 60)
    now.now = 100.0
    measured = metrics.measure(RUNNING)
    assert (measured.evaluations_per_s, measured.evaluations, measured.run) == (0.0, 3, "run")


def test_only_generations_seen_from_their_beginning_are_timed() -> None:
    now = Clock()
    metrics = RunMetrics(now)
    ends = event(p.GenerationCompleted(generation=1, state_digest=""), 1)
    begins = event(p.GenerationStarted(generation=2, graph_digest="", pools_digest=""), 2)
    for now.now, what in ((5.0, ends), (6.0, begins), (9.0, ends), (10.0, begins)):
        metrics.record_event(what)
    now.now = 14.0
    measured = metrics.measure(RUNNING)
    assert (measured.generation_times_s, measured.generation_s) == ((3.0,), 4.0)


def test_the_last_edits_and_the_outage_are_kept() -> None:
    now = Clock()
    metrics = RunMetrics(now)
    for t in range(1, 7):
        deleted = p.ImplementationDeleted(
            generation=t, slot=0, operator=OperatorId("o"), implementation=ImplementationId(f"o.{t}")
        )
        metrics.record_event(event(deleted, t))
    metrics.record_event(event(p.CallsSuspended(reason="down")))
    now.now = 12.0
    measured = metrics.measure(replace(RUNNING, suspension="down"))
    assert [edit.generation for edit in measured.edits] == [3, 4, 5, 6]
    assert measured.edits[-1].changes == ("- implementation o.6",)
    assert measured.suspended_s == 12.0
    metrics.record_event(event(p.CallsResumed(waited_s=12.0)))
    assert metrics.measure(RUNNING).suspended_s is None
