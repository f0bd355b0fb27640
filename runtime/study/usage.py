"""What a run had used by when, read from its log: seconds, processor time, memory, evaluations."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import NamedTuple

from dga2d.events import RecordedEvent
from dga2d.events.payloads import EvaluationRecorded, GenerationCompleted
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.inspection.views import history_view


class Usage(NamedTuple):
    """What the search of a run has used; held-out tests are no part of it."""

    seconds: float = 0.0
    """By the clock while a process carried it out."""
    cpu_s: float | None = None
    """Processor seconds, evaluations included, up to the last closed generation of each process; ``None``
    where the log does not say it."""
    peak_bytes: int | None = None
    """Most memory that the program held, evaluations left out; ``None`` as above."""
    evaluations: int = 0
    work: int = 0
    """Work units of all evaluations."""


NOTHING = Usage()


class Reached(NamedTuple):
    """The best validation of a run so far, and what had been used by then."""

    calls: int
    tokens: int
    usage: Usage
    gap: float
    """In percent."""


async def usage_by_generation(events: AsyncIterable[RecordedEvent]) -> dict[int, Usage]:
    """Return what a run had used at the end of each of its generations, from all its events in order."""
    found: dict[int, Usage] = {}
    now, ended_s, before_us, is_testing = NOTHING, 0.0, None, False
    async for event in events:
        if event.type in ("RunResumed", "RunForked"):
            ended_s, before_us, is_testing = now.cpu_s or 0.0, None, False
        is_testing = is_testing or event.type == "TestStarted"
        if is_testing:
            continue
        passed_us = 0 if before_us is None else event.recorded_at - before_us
        before_us = event.recorded_at
        now = now._replace(seconds=now.seconds + max(passed_us, 0) / 1e6)
        payload = event.payload if event.type in ("EvaluationRecorded", "GenerationCompleted") else None
        if isinstance(payload, EvaluationRecorded):
            now = now._replace(evaluations=now.evaluations + 1, work=now.work + payload.work)
        elif isinstance(payload, GenerationCompleted):
            if payload.used is not None:
                peak = max(payload.used.peak_bytes, now.peak_bytes or 0)
                now = now._replace(cpu_s=ended_s + payload.used.cpu_s, peak_bytes=peak)
            found[payload.generation] = now
    return found


def course_of(state: RunState, used: dict[int, Usage]) -> tuple[Reached, ...]:
    """Return the best validation gap so far after each validated generation."""
    calls = [state.ledger.calls[number] for number in sorted(state.ledger.calls)]
    tokens = [0]
    for call in calls:
        tokens.append(tokens[-1] + call.prompt_tokens + call.completion_tokens)
    course: list[Reached] = []
    for closed in history_view(state):
        gap, made = closed["validation_gap_percent"], closed["calls"]
        if gap is not None:
            best = min(gap, course[-1].gap) if course else gap
            spent = tokens[min(made, len(calls))]
            course.append(Reached(made, spent, used.get(closed["generation"], NOTHING), best))
    return tuple(course)
