"""Evaluations as tables: candidates by instance, failures by kind, positions of a pipeline, and operators
by generation; and how busy evaluators and models were.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dga2d.domains.budget import bounded_shares
from dga2d.domains.core.contract import normalised_gap
from dga2d.events import InstanceKey, instance_and_copy
from dga2d.events.payloads import InstanceEntry, Step, shares_of
from dga2d.replay.state.graph import START
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.inspection.views import test_label
from dga2d.runtime.report.notes import Closing, Evaluation, Noted, Notes, Position


@dataclass(frozen=True)
class PositionMeans:
    """One position of a pipeline, on average over its successful evaluations."""

    operator: str
    implementation: str
    budget_percent: float
    """Part of the budget that it is given."""
    time_percent: float | None
    """Share of the evaluation's time; ``None`` where it was never evaluated successfully."""
    improvement_percent: float | None
    """Mean reduction of the score, in percent of its value on entry; ``None`` for the first position."""
    work: float | None
    """Mean work units; ``None`` where it was never evaluated successfully."""


def improvement_percent(position: Position) -> float | None:
    """Return the reduction of the score in percent of its value on entry; ``None`` without such a value."""
    if not position.score_before:
        return None
    return 100.0 * (position.score_before - position.score_after) / abs(position.score_before)


def position_means(steps: Sequence[Step], evaluations: Iterable[Evaluation]) -> tuple[PositionMeans, ...]:
    """Return the means over those `evaluations` of the pipeline `steps` that succeeded."""
    traces = [e.trace for e in evaluations if e.failure is None and len(e.trace) == len(steps)]
    total = sum(position.elapsed_s for trace in traces for position in trace)
    rows, parts = [], bounded_shares(shares_of(steps))
    for index, step in enumerate(steps):
        positions = [trace[index] for trace in traces]
        gains = [gain for q in positions if (gain := improvement_percent(q)) is not None]
        rows.append(
            PositionMeans(
                operator=step.operator,
                implementation=step.implementation,
                budget_percent=100.0 * (parts[index] if parts else 1.0 / len(steps)),
                time_percent=100.0 * sum(q.elapsed_s for q in positions) / total if total else None,
                improvement_percent=_mean(gains),
                work=_mean([float(q.work) for q in positions]),
            )
        )
    return tuple(rows)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


MOST_COLUMNS = 60
"""Columns of a drawn heat map; of a longer run several generations share one."""


@dataclass(frozen=True)
class HeatCell:
    """An operator in a generation, or in the `HeatMap.span` generations from it on."""

    operator: str
    generation: int
    value: float
    """A mean where there are several generations."""
    share: float
    """Sign of the value times the root of its size beside the largest, −1 … 1."""


@dataclass(frozen=True)
class HeatMap:
    """Operators (rows) by closed generations (columns); what is not in `values` has no value."""

    operators: tuple[str, ...]
    generations: tuple[int, ...]
    """The first generation of each column."""
    values: Mapping[tuple[str, int], float]
    """By operator and the first generation of its column; a mean where a column has several."""
    span: int = 1
    """Generations in a column; there may be fewer in the last."""

    def joined(self, most_columns: int = MOST_COLUMNS) -> HeatMap:
        """Return the map with at most so many columns, in which several generations share one."""
        span = max(1, -(-len(self.generations) // most_columns))
        first = {g: self.generations[i - i % span] for i, g in enumerate(self.generations)}
        together: dict[tuple[str, int], list[float]] = defaultdict(list)
        for (operator, generation), value in self.values.items():
            together[operator, first[generation]].append(value)
        means = {key: sum(several) / len(several) for key, several in together.items()}
        return HeatMap(self.operators, self.generations[::span], means, span)

    @cached_property
    def cells(self) -> tuple[HeatCell, ...]:
        """What is drawn, each with its part of the largest."""
        largest = max(map(abs, self.values.values()), default=0.0) or 1.0
        return tuple(
            HeatCell(operator, generation, value, math.copysign(math.sqrt(abs(value) / largest), value))
            for (operator, generation), value in sorted(self.values.items())
        )


def credit_map(closings: Sequence[Closing]) -> HeatMap:
    """Return the credit of every operator when each generation closed."""
    values: dict[tuple[str, int], float] = {
        (operator, closing.generation): credit
        for closing in closings
        for operator, credit in closing.credits.items()
    }
    return _map(values, [closing.generation for closing in closings])


def improvement_map(notes: Notes) -> HeatMap:
    """Return the mean improvement in percent of every operator but initialisers, on the training batch."""
    gains: dict[tuple[str, int], list[float]] = defaultdict(list)
    for _, evaluation in notes.evaluations:
        if evaluation.split == "train" and evaluation.failure is None:
            for operator, gain in _gains(notes, evaluation):
                gains[operator, evaluation.generation].append(gain)
    values = {key: sum(several) / len(several) for key, several in gains.items()}
    return _map(values, [closing.generation for closing in notes.closings])


def _gains(notes: Notes, evaluation: Evaluation) -> Iterable[tuple[str, float]]:
    steps = notes.programs["train", evaluation.generation, evaluation.candidate]
    for step, position in zip(steps, evaluation.trace, strict=False):
        gain = improvement_percent(position)
        if gain is not None:
            yield step.operator, gain


def _map(values: dict[tuple[str, int], float], generations: Sequence[int]) -> HeatMap:
    closed = set(generations)
    kept = {key: value for key, value in values.items() if key[0] != START and key[1] in closed}
    return HeatMap(tuple(sorted({operator for operator, _ in kept})), tuple(generations), kept)


def evaluations_of(notes: Notes, steps: tuple[Step, ...]) -> list[Evaluation]:
    """Return the successful evaluations of a pipeline on all splits and in all generations."""
    own = notes.programs.places(steps)
    return [
        e for _, e in notes.evaluations if e.failure is None and (e.split, e.generation, e.candidate) in own
    ]


@dataclass(frozen=True)
class EvaluationCell:
    """A candidate on an instance."""

    seq: int
    gap_percent: float | None
    """``None`` on failure."""
    failure: str | None
    diagnostic: str
    elapsed_s: float
    work: int


@dataclass(frozen=True)
class CandidateRow:
    """A candidate."""

    label: str
    """Its number, or its name in a test."""
    operators: tuple[str, ...]
    score: float | None
    """``None`` while it is not known, and off the training batch."""
    reward: float | None
    """Standardised; ``None`` as `score`."""
    cells: tuple[EvaluationCell | None, ...]
    """By instance; ``None`` for what is still to come."""
    positions: tuple[PositionMeans, ...]


@dataclass(frozen=True)
class EvaluationTable:
    """The evaluations of one generation (or test attempt) on one split."""

    split: str
    generation: int
    instances: tuple[InstanceKey, ...]
    rows: tuple[CandidateRow, ...]


@dataclass(frozen=True)
class FailureGroup:
    """The failures of one kind."""

    kind: str
    by_split: tuple[tuple[str, int], ...]
    last_seq: int
    last_diagnostic: str


def make_tables(state: RunState, notes: Notes) -> tuple[EvaluationTable, ...]:
    """Return a table per split: of the latest generation (or test attempt) that was evaluated on it."""
    latest = {noted.payload.split: noted.payload.generation for noted in notes.evaluations}
    return tuple(
        _table(state, notes, split, latest[split])
        for split in ("train", "gate", "race", "validation", "test")
        if split in latest
    )


def _table(state: RunState, notes: Notes, split: str, generation: int) -> EvaluationTable:
    by_candidate: dict[int, dict[InstanceKey, Noted[Evaluation]]] = {}
    for noted in notes.evaluations:
        payload = noted.payload
        if payload.split == split and payload.generation == generation:
            by_candidate.setdefault(payload.candidate, {})[payload.instance] = noted
    instances = sorted({key for row in by_candidate.values() for key in row})
    entries = {
        entry.key: entry
        for entry in getattr(state.header.splits, split if split in ("validation", "test") else "train")
    }
    rows = []
    for candidate, found in sorted(by_candidate.items()):
        steps = notes.programs[split, generation, candidate]
        score, reward = _score(notes, generation, candidate) if split == "train" else (None, None)
        rows.append(
            CandidateRow(
                label=_label(state, split, candidate),
                operators=tuple(step.operator for step in steps),
                score=score,
                reward=reward,
                cells=tuple(_cell(state, found.get(key), entries) for key in instances),
                positions=position_means(steps, [noted.payload for noted in found.values()]),
            )
        )
    return EvaluationTable(split, generation, tuple(instances), tuple(rows))


def _label(state: RunState, split: str, candidate: int) -> str:
    if split == "test" and state.test is not None:
        return test_label(state.test.candidates[candidate])
    return str(candidate)


def _cell(
    state: RunState, noted: Noted[Evaluation] | None, entries: dict[InstanceKey, InstanceEntry]
) -> EvaluationCell | None:
    if noted is None:
        return None
    seq, e = noted
    gap = None
    if e.objective is not None:
        entry = entries[e.instance if e.instance in entries else instance_and_copy(e.instance)[0]]
        gap = 100.0 * normalised_gap(e.objective, entry.reference, state.header.sense, entry.scale)
    return EvaluationCell(seq, gap, e.failure, e.diagnostic, e.elapsed_s, e.work)


def _score(notes: Notes, generation: int, candidate: int) -> tuple[float | None, float | None]:
    scores = [s.score for _, s in notes.scores if (s.generation, s.candidate) == (generation, candidate)]
    rewards = [s.rewards for _, s in notes.scorings if s.generation == generation]
    return (scores[-1] if scores else None), (rewards[-1][candidate] if rewards else None)


def group_failures(notes: Notes) -> tuple[FailureGroup, ...]:
    """Return all failures by kind, most frequent first."""
    kinds: dict[str, list[Noted[Evaluation]]] = {}
    for noted in notes.evaluations:
        if noted.payload.failure is not None:
            kinds.setdefault(noted.payload.failure, []).append(noted)
    return tuple(
        FailureGroup(
            kind,
            tuple(sorted(Counter(noted.payload.split for noted in found).items())),
            found[-1].seq,
            found[-1].payload.diagnostic,
        )
        for kind, found in sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    )


Span = tuple[float, float]
"""Beginning and end, seconds from any origin."""


class Utilisation(NamedTuple):
    """Average number of tasks under way at once, without pauses and work that nobody waited for."""

    busy_s: float
    """Seconds in which an evaluation or a model call was under way."""
    evaluations: float
    """Evaluations at a time."""
    calls: float
    """Model calls at a time."""
    model_alone_s: float
    """Seconds in which a call was under way and no evaluation."""

    @property
    def sentence(self) -> str:
        """What a person should know."""
        share = 100 * self.model_alone_s / self.busy_s
        return (
            f"{self.evaluations:.1f} evaluations and {self.calls:.1f} model calls under way at a time; "
            f"no evaluation while the model was waited for: {share:.0f} % of {self.busy_s / 60:.1f} minutes"
        )


def utilisation(evaluations: Iterable[Span], calls: Iterable[Span]) -> Utilisation | None:
    """Return what was under way on average; ``None`` where nothing took any time."""
    evaluated, called = _spans(evaluations), _spans(calls)
    times = np.concatenate([evaluated.ravel(), called.ravel()])
    begin_and_end = np.array([1, -1])
    evaluations_more = np.concatenate([np.tile(begin_and_end, len(evaluated)), np.zeros(called.size, int)])
    calls_more = np.concatenate([np.zeros(evaluated.size, int), np.tile(begin_and_end, len(called))])
    order = np.argsort(times, kind="stable")
    lengths = np.diff(times[order])
    running = np.cumsum(evaluations_more[order])[:-1]
    flying = np.cumsum(calls_more[order])[:-1]
    busy = float(lengths[(running > 0) | (flying > 0)].sum())
    if busy <= 0.0:
        return None
    alone = float(lengths[(flying > 0) & (running == 0)].sum())
    return Utilisation(busy, float(running @ lengths) / busy, float(flying @ lengths) / busy, alone)


def _spans(spans: Iterable[Span]) -> npt.NDArray[np.float64]:
    """Return spans as an array ``(n, 2)``."""
    return np.array(list(spans), dtype=np.float64).reshape(-1, 2)


def utilisation_of(state: RunState, notes: Notes) -> Utilisation | None:
    """Return how busy evaluators and models were in a run; an event stands where what it records ended."""
    times, first = notes.times, notes.times[0] if notes.times else 0

    def span(seq: int, elapsed_s: float) -> Span:
        end = (times[seq - 1] - first) / 1e6
        return end - elapsed_s, end

    ended = [call for call in state.ledger.calls.values() if call.ended_seq and call.elapsed_s is not None]
    return utilisation(
        (span(seq, evaluation.elapsed_s) for seq, evaluation in notes.evaluations),
        (span(call.ended_seq or 1, call.elapsed_s or 0.0) for call in ended),
    )
