"""What stands beside a run's training curve: validations, lines to compare with, edits, and why it turned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal

from dga2d.events import ImplementationId
from dga2d.events import payloads as p
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.inspection.measures import measure_of
from dga2d.runtime.inspection.validations import ValidationRecord, gaps_of
from dga2d.runtime.inspection.verdict import GapEstimate, estimate_gap
from dga2d.runtime.inspection.views import gap_of
from dga2d.runtime.report.notes import Change, Noted, Notes

EVOLVED_HELD_OUT = "evolved, held-out"
LEVELS = {"evolved": EVOLVED_HELD_OUT, "baseline": "start, held-out", "hand_tuned": "hand-tuned, held-out"}
"""Label of a held-out test → name of its line."""
Steps = tuple[p.Step, ...]


@dataclass(frozen=True)
class Level:
    """A gap that holds for the whole run, such as that of the start."""

    name: str
    gap_percent: float
    curve: int | None = None
    """Place of the curve that it belongs to, where there is one for each run."""


@dataclass(frozen=True)
class EditMark:
    """An accepted edit, by the generation that made it."""

    generation: int
    seq: int
    text: str
    brings_code: bool = False


@dataclass(frozen=True)
class ValidatedBest:
    """The best pipeline of a validation."""

    generation: int
    gap_percent: float
    interval_percent: tuple[float, float] | None
    instances: int


@dataclass(frozen=True)
class TurningPoint:
    """A generation after which another program was the best in training, or the checkpoint."""

    kind: Literal["best", "checkpoint"]
    generation: int
    seq: int
    """Event of the first score, or of the selection, that made it so."""
    text: str
    """What it is, and how it differs from the one before."""
    edit: int | None = None
    """Event of the last edit whose code came with it; ``None`` where there is none."""


@dataclass(frozen=True)
class Milestones:
    """What a run is measured by beside its training batch."""

    validated: tuple[ValidatedBest, ...] = ()
    levels: tuple[Level, ...] = ()
    edits: tuple[EditMark, ...] = ()
    turns: tuple[TurningPoint, ...] = ()


def gather_milestones(
    state: RunState,
    notes: Notes,
    record: ValidationRecord,
    test: Mapping[str, GapEstimate],
    edits: Sequence[EditMark],
    known: dict[tuple[int, int, int], GapEstimate],
) -> Milestones:
    """Return the milestones of a run up to `state`.

    `edits` are the marks of the notes' changes in their order, `known` keeps what was estimated before.
    """
    before = record.gaps(state.header, state.header.baseline, state.completed + 1)
    estimates = {"start, validation": estimate_gap(before)} if before else {}
    estimates |= {LEVELS[label]: estimate for label, estimate in test.items()}
    levels = [Level(name, one.gap.mean) for name, one in estimates.items() if one.gap is not None]
    turns = (*_best_turns(state, notes, edits), *_checkpoint_turns(state, notes, edits))
    return Milestones(_validated_bests(state, record, known), tuple(levels), tuple(edits), turns)


def code_brought(changes: Sequence[Change], edits: Sequence[EditMark]) -> dict[ImplementationId, EditMark]:
    """Return by implementation the edit that brought its code; `edits` are the marks of `changes`."""
    found = dict[ImplementationId, EditMark]()
    for change, mark in zip(changes, edits, strict=True):
        if isinstance(change.payload, p.KernelReplaced):
            found |= {host.implementation: mark for host in change.payload.replaced}
        elif mark.brings_code and not isinstance(change.payload, p.EdgeReplaced | p.OperatorRetired):
            found[change.payload.implementation] = mark
    return found


def _validated_bests(
    state: RunState, record: ValidationRecord, known: dict[tuple[int, int, int], GapEstimate]
) -> tuple[ValidatedBest, ...]:
    """Return the best pipeline of every validation, those that failed left out."""
    found: dict[int, ValidatedBest] = {}
    for (generation, candidate), objectives in sorted(record.objectives.items(), key=itemgetter(0)):
        key = generation, candidate, len(objectives)
        if key not in known:
            known[key] = estimate_gap(gaps_of(state.header, "validation", objectives))
        estimate = known[key]
        gap = estimate.gap
        if gap is None or (generation in found and found[generation].gap_percent <= gap.mean):
            continue
        bounds = None if gap.low is None or gap.high is None else (gap.low, gap.high)
        found[generation] = ValidatedBest(generation, gap.mean, bounds, estimate.instances)
    return tuple(found.values())


def _best_turns(state: RunState, notes: Notes, edits: Sequence[EditMark]) -> Iterator[TurningPoint]:
    """Yield why the best so far moved: nothing for the first best, which it moved from."""
    measure, failed = measure_of(state.header), state.settings.failure_reward
    brought = code_brought(notes.changes, edits)
    before: tuple[float, Steps] | None = None
    for seq, scored in _best_of_generations(notes.scores):
        if scored.score <= (failed if before is None else before[0]):
            continue
        steps = notes.programs["train", scored.generation, scored.candidate]
        if before is not None:
            was, now = (measure.text(gap_of(score, failed)) for score in (before[0], scored.score))
            why, edit = _difference(state, before[1], steps, brought)
            text = f"best so far {now} instead of {was}, {why}"
            yield TurningPoint("best", scored.generation, seq, text, edit)
        before = scored.score, steps


def _best_of_generations(scores: Sequence[Noted[p.CandidateScored]]) -> list[Noted[p.CandidateScored]]:
    """Return the best score of each generation, the first one of equal ones."""
    found: dict[int, Noted[p.CandidateScored]] = {}
    for noted in scores:
        generation = noted.payload.generation
        if generation not in found or noted.payload.score > found[generation].payload.score:
            found[generation] = noted
    return list(found.values())


def _checkpoint_turns(state: RunState, notes: Notes, edits: Sequence[EditMark]) -> Iterator[TurningPoint]:
    """Yield how the checkpoint changed; it is the start to begin with."""
    brought = code_brought(notes.changes, edits)
    before = state.header.baseline
    for seq, selected in notes.checkpoints:
        if selected.pipeline != before:
            if selected.pipeline == state.header.baseline:
                why, edit = "the start again", None
            else:
                why, edit = _difference(state, before, selected.pipeline, brought)
            yield TurningPoint("checkpoint", selected.generation, seq, f"new checkpoint, {why}", edit)
        before = selected.pipeline


def _difference(
    state: RunState, before: Steps, now: Steps, brought: Mapping[ImplementationId, EditMark]
) -> tuple[str, int | None]:
    """Return how `now` differs from `before`, and the event of the last edit whose code came with it."""
    had = {state.unconfigured(step.implementation) for step in before}
    fresh = [step for step in now if state.unconfigured(step.implementation) not in had]
    edits = [
        (mark, step.operator)
        for step in fresh
        if (mark := brought.get(state.unconfigured(step.implementation))) is not None
    ]
    if edits:
        codes = dict.fromkeys(f"{name} (generation {mark.generation})" for mark, name in edits)
        return f"by new code in {' and '.join(codes)}", max(mark.seq for mark, _ in edits)
    operators = [step.operator for step in now]
    if operators != [step.operator for step in before]:
        return f"by another pipeline: {' → '.join(operators)}", None
    if fresh:
        names = dict.fromkeys(step.operator for step in fresh)
        return f"by other code of the library in {' and '.join(names)}", None
    return "by other constants or parts of the budget", None
