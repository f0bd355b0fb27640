"""What each position of a pipeline did, and each operator in each generation."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dga2d.events.payloads import EvaluationRecorded, PositionTrace, Step
from dga2d.replay.state.graph import START
from dga2d.runtime.report.notes import Closing, Notes


@dataclass(frozen=True)
class PositionMeans:
    """One position of a pipeline, on average over its successful evaluations."""

    operator: str
    implementation: str
    time_percent: float | None
    """Share of the evaluation's time; ``None`` where it was never evaluated successfully."""
    improvement_percent: float | None
    """Mean reduction of the score, in percent of its value on entry; ``None`` for the first position."""
    work: float | None
    """Mean work units; ``None`` where it was never evaluated successfully."""


def improvement_percent(position: PositionTrace) -> float | None:
    """Reduction of the score in percent of its value on entry; ``None`` where there was none to improve."""
    if not position.score_before:
        return None
    return 100.0 * (position.score_before - position.score_after) / abs(position.score_before)


def position_means(
    steps: Sequence[Step], evaluations: Iterable[EvaluationRecorded]
) -> tuple[PositionMeans, ...]:
    """Means over those `evaluations` of the pipeline `steps` that succeeded."""
    traces = [e.trace for e in evaluations if e.failure is None and len(e.trace) == len(steps)]
    total = sum(position.elapsed_s for trace in traces for position in trace)
    rows = []
    for index, step in enumerate(steps):
        positions = [trace[index] for trace in traces]
        gains = [gain for q in positions if (gain := improvement_percent(q)) is not None]
        rows.append(
            PositionMeans(
                operator=step.operator,
                implementation=step.implementation,
                time_percent=100.0 * sum(q.elapsed_s for q in positions) / total if total else None,
                improvement_percent=_mean(gains),
                work=_mean([float(q.work) for q in positions]),
            )
        )
    return tuple(rows)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


@dataclass(frozen=True)
class HeatCell:
    """An operator in a generation."""

    operator: str
    generation: int
    value: float
    share: float
    """Sign of the value times the root of its size beside the largest, −1 … 1."""


@dataclass(frozen=True)
class HeatMap:
    """Operators (rows) by closed generations (columns); what is not in `cells` has no value."""

    operators: tuple[str, ...]
    generations: tuple[int, ...]
    cells: tuple[HeatCell, ...]


def credit_map(closings: Sequence[Closing]) -> HeatMap:
    """Credit of every operator when each generation closed."""
    values: dict[tuple[str, int], float] = {
        (operator, closing.generation): credit
        for closing in closings
        for operator, credit in closing.credits.items()
    }
    return _map(values, [closing.generation for closing in closings])


def improvement_map(notes: Notes) -> HeatMap:
    """Mean improvement in percent of every operator that had something to improve, on the training batch."""
    gains: dict[tuple[str, int], list[float]] = defaultdict(list)
    for _, evaluation in notes.evaluations:
        if evaluation.split == "train" and evaluation.failure is None:
            for operator, gain in _gains(notes, evaluation):
                gains[operator, evaluation.generation].append(gain)
    values = {key: sum(several) / len(several) for key, several in gains.items()}
    return _map(values, [closing.generation for closing in notes.closings])


def _gains(notes: Notes, evaluation: EvaluationRecorded) -> Iterable[tuple[str, float]]:
    steps = notes.programs["train", evaluation.generation, evaluation.candidate]
    for step, position in zip(steps, evaluation.trace, strict=False):
        gain = improvement_percent(position)
        if gain is not None:
            yield step.operator, gain


def _map(values: dict[tuple[str, int], float], generations: Sequence[int]) -> HeatMap:
    closed = set(generations)
    kept = {key: value for key, value in values.items() if key[1] in closed and key[0] != START}
    largest = max(map(abs, kept.values()), default=0.0) or 1.0
    return HeatMap(
        operators=tuple(sorted({operator for operator, _ in kept})),
        generations=tuple(generations),
        cells=tuple(
            HeatCell(operator, generation, value, math.copysign(math.sqrt(abs(value) / largest), value))
            for (operator, generation), value in sorted(kept.items())
        ),
    )


def evaluations_of(notes: Notes, steps: tuple[Step, ...]) -> list[EvaluationRecorded]:
    """The successful evaluations of a pipeline, on whatever split and in whatever generation."""
    return [
        e
        for _, e in notes.evaluations
        if e.failure is None and notes.programs[e.split, e.generation, e.candidate] == steps
    ]
