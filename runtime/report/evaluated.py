"""Evaluations as tables: a row per candidate, a column per instance; and failures by kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from dga2d.domains.core.contract import normalised_gap
from dga2d.events import InstanceKey
from dga2d.events import payloads as p
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.report.notes import Noted, Notes
from dga2d.runtime.report.positions import PositionMeans, position_means


@dataclass(frozen=True)
class Cell:
    """A candidate on an instance."""

    seq: int
    gap_percent: float | None
    """``None`` on failure."""
    failure: str | None
    diagnostic: str
    elapsed_s: float
    work: int


@dataclass(frozen=True)
class Row:
    """A candidate."""

    label: str
    """Its number, or its name in a test."""
    operators: tuple[str, ...]
    score: float | None
    """``None`` while it is not known, and off the training batch."""
    reward: float | None
    """Standardised; ``None`` as `score`."""
    cells: tuple[Cell | None, ...]
    """By instance; ``None`` for what is still to come."""
    positions: tuple[PositionMeans, ...]


@dataclass(frozen=True)
class Table:
    """The evaluations of one generation (or test attempt) on one split."""

    split: str
    generation: int
    instances: tuple[InstanceKey, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Failure:
    """All failures of a kind."""

    kind: str
    by_split: tuple[tuple[str, int], ...]
    last_seq: int
    last_diagnostic: str


def tables(state: RunState, notes: Notes) -> tuple[Table, ...]:
    """The latest generation (or test attempt) that was evaluated on each split."""
    latest = {noted.payload.split: noted.payload.generation for noted in notes.evaluations}
    return tuple(
        _table(state, notes, split, latest[split])
        for split in ("train", "validation", "test")
        if split in latest
    )


def _table(state: RunState, notes: Notes, split: str, generation: int) -> Table:
    by_candidate: dict[int, dict[InstanceKey, Noted[p.EvaluationRecorded]]] = {}
    for noted in notes.evaluations:
        payload = noted.payload
        if payload.split == split and payload.generation == generation:
            by_candidate.setdefault(payload.candidate, {})[payload.instance] = noted
    instances = sorted({key for row in by_candidate.values() for key in row})
    references = {entry.key: entry.reference for entry in getattr(state.header.splits, split)}
    rows = []
    for candidate, found in sorted(by_candidate.items()):
        steps = notes.programs[split, generation, candidate]
        score, reward = _score(notes, generation, candidate) if split == "train" else (None, None)
        rows.append(
            Row(
                label=_label(state, split, candidate),
                operators=tuple(step.operator for step in steps),
                score=score,
                reward=reward,
                cells=tuple(_cell(state, found.get(key), references) for key in instances),
                positions=position_means(steps, [noted.payload for noted in found.values()]),
            )
        )
    return Table(split, generation, tuple(instances), tuple(rows))


def _label(state: RunState, split: str, candidate: int) -> str:
    if split == "test" and state.test is not None:
        return state.test.candidates[candidate].label
    return str(candidate)


def _cell(
    state: RunState, noted: Noted[p.EvaluationRecorded] | None, references: dict[InstanceKey, float]
) -> Cell | None:
    if noted is None:
        return None
    seq, e = noted
    gap = None
    if e.objective is not None:
        gap = 100.0 * normalised_gap(e.objective, references[e.instance], state.header.sense)
    return Cell(seq, gap, e.failure, e.diagnostic, e.elapsed_s, e.work)


def _score(notes: Notes, generation: int, candidate: int) -> tuple[float | None, float | None]:
    scores = [s.score for _, s in notes.scores if (s.generation, s.candidate) == (generation, candidate)]
    rewards = [s.rewards for _, s in notes.scorings if s.generation == generation]
    return (scores[-1] if scores else None), (rewards[-1][candidate] if rewards else None)


def failures(notes: Notes) -> tuple[Failure, ...]:
    """Every kind of failure there was, most frequent first."""
    kinds: dict[str, list[Noted[p.EvaluationRecorded]]] = {}
    for noted in notes.evaluations:
        if noted.payload.failure is not None:
            kinds.setdefault(noted.payload.failure, []).append(noted)
    return tuple(
        Failure(
            kind,
            tuple(sorted(Counter(noted.payload.split for noted in found).items())),
            found[-1].seq,
            found[-1].payload.diagnostic,
        )
        for kind, found in sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    )
