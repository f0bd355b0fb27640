"""What a run achieved: its algorithm against the safe baseline on the same instances.

A figure is a mean of gaps with its 95 % interval, a difference one of pairs: both algorithms on one instance.
Intervals are Student's, over instances. Held-out instances decide; where the algorithm was not tested yet,
the validation instances do, and the sentence says that these chose it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from dga2d.events import InstanceKey, RunId
from dga2d.events.payloads import Step
from dga2d.replay.state.run_state import RunState, ScoredProgram, TestState
from dga2d.runtime.inspection.measures import GAP, Measure, measure_of
from dga2d.runtime.inspection.pairs import (
    Gaps,
    Interval,
    PairedGaps,
    TestedPairs,
    conclusion,
    interval,
    pair_gaps,
)
from dga2d.runtime.inspection.validations import References, ValidationRecord, gaps_of
from dga2d.runtime.inspection.views import count_instances
from dga2d.store import EventStore

VerdictOutcome = Literal["improved", "not improved", "baseline kept"]
PLACES = {"test": "held-out", "validation": "validation"}


@dataclass(frozen=True)
class GapEstimate:
    """Gap of an algorithm over instances, in percent."""

    instances: int
    failures: int
    """Instances on which the algorithm gave no valid solution."""
    gap: Interval | None
    """``None`` where it failed on an instance."""

    def view(self) -> dict[str, Any]:
        """Return plain values: ``gap_percent``, ``interval_percent``, ``instances`` and ``failures``."""
        return {
            "gap_percent": None if self.gap is None else round(self.gap.mean, 4),
            "interval_percent": None if self.gap is None else self.gap.bounds,
            "instances": self.instances,
            "failures": self.failures,
        }


@dataclass(frozen=True)
class RunVerdict:
    """The algorithm of a run beside the safe baseline."""

    outcome: VerdictOutcome
    split: Literal["test", "validation"] | None
    """Where they were compared; ``None`` where there is only the baseline."""
    own_sentence: str
    """What came of it under the run's own budget, or under `limit_s`."""
    points: Interval | None = None
    """Gap of the baseline minus that of the algorithm in percentage points, where both solved an instance."""
    instances: int = 0
    won: int = 0
    lost: int = 0
    in_seconds: RunVerdict | None = None
    """The same in wall-clock seconds instead of work units; ``None`` where the budget is in seconds."""
    limit_s: float | None = None
    """Seconds for an instance, where both were compared by the clock instead of in work units."""
    hand_tuned: PairedGaps | None = None
    """Beside the hand-tuned baseline; ``None`` where that was not tested."""
    conclusion: str | None = None
    """What the held-out test found in one sentence; ``None`` before it."""

    @property
    def sentence(self) -> str:
        """Return what came of it under both budgets, on one line."""
        timed = self.in_seconds
        if timed is None:
            return self.own_sentence
        return f"{self.own_sentence}; in equal seconds ({timed.limit_s:g} s): {timed.own_sentence}"

    def view(self) -> dict[str, Any]:
        """Return plain values, as under ``verdict`` in the JSON of commands."""
        return {
            "outcome": self.outcome,
            "sentence": self.sentence,
            "own_sentence": self.own_sentence,
            "limit_s": self.limit_s,
            "split": self.split,
            "points": None if self.points is None else round(self.points.mean, 4),
            "interval_points": None if self.points is None else self.points.bounds,
            "instances": self.instances,
            "won": self.won,
            "lost": self.lost,
            "in_seconds": None if self.in_seconds is None else self.in_seconds.view(),
            "hand_tuned": None if self.hand_tuned is None else self.hand_tuned.view(),
            "conclusion": self.conclusion,
        }


@dataclass(frozen=True)
class Achievement:
    """The figures of a run's algorithm and what follows from them; ``None`` for what is not known yet."""

    validation: GapEstimate | None = None
    """The checkpoint on the validation instances that chose it."""
    test: Mapping[str, GapEstimate] | None = None
    """``evolved`` and ``baseline`` on the held-out instances, and ``hand_tuned`` where it was tested."""
    verdict: RunVerdict | None = None


async def read_achievement(store: EventStore, run_id: str, state: RunState) -> Achievement:
    """Return what the run had achieved in `state`, reading the events of its validations."""
    record = ValidationRecord()
    if state.checkpoint is not None:
        async for page in store.pages(RunId(run_id), until=state.seq):
            for event in page:
                record.record_event(event)
    return achievement_of(state, record)


def achievement_of(state: RunState, record: ValidationRecord) -> Achievement:
    """Return what the run had achieved in `state`, given its validations."""
    program, tested = state.checkpoint, held_out_gaps(state)
    estimates = None if tested is None else {name: estimate_gap(gaps) for name, gaps in tested.items()}
    if program is None:
        return Achievement(test=estimates)
    validated = record.gaps(state.header, program.steps, program.generation)
    return Achievement(
        validation=estimate_gap(validated) if validated else None,
        test=estimates,
        verdict=_verdict(state, program, record, validated),
    )


def estimate_gap(gaps: Gaps) -> GapEstimate:
    """Return the mean gap over instances with its interval."""
    solved = [gap for gap in gaps.values() if gap is not None]
    failures = len(gaps) - len(solved)
    return GapEstimate(len(gaps), failures, None if failures or not solved else interval(solved))


def estimate_open_validation(state: RunState, steps: tuple[Step, ...]) -> GapEstimate | None:
    """Return the estimate for a pipeline of the open validation; ``None`` where it is not part of one."""
    validation = None if state.generation is None else state.generation.validation
    if validation is None or validation.pipelines is None or steps not in validation.pipelines:
        return None
    row = validation.outcomes.row(validation.pipelines.index(steps))
    objectives = {key: outcome.objective for key, outcome in row.items()}
    return estimate_gap(gaps_of(state.header, "validation", objectives))


def compare(
    split: Literal["test", "validation"],
    evolved: Gaps,
    baseline: Gaps,
    pairs_text: str = "",
    measure: Measure = GAP,
) -> RunVerdict:
    """Return the verdict on two algorithms over the instances on which both were evaluated; `pairs_text` says
    what the pairs are if not instances."""
    return _judge(split, pair_gaps(evolved, baseline), measure, pairs_text)


def _judge(
    split: Literal["test", "validation"], found: PairedGaps, measure: Measure, pairs_text: str = ""
) -> RunVerdict:
    points, fewer = found.points, found.their_failures - found.failures
    is_better = points is None or (points.low is not None and points.low > 0.0)
    if fewer:
        is_better = fewer > 0 and (points is None or points.mean >= 0.0)
    outcome: VerdictOutcome = "improved" if is_better and found.won else "not improved"
    n = found.instances
    place = f"{n} {pairs_text}" if pairs_text else count_instances(n, PLACES[split])
    sentence = f"{_headline(outcome, points, fewer, measure)} {_details(split, place, found, measure)}"
    return RunVerdict(outcome, split, sentence, points, n, found.won, found.lost)


def _headline(outcome: VerdictOutcome, points: Interval | None, fewer_failures: int, measure: Measure) -> str:
    if points is None or points.mean == 0.0:
        difference, is_noise = "no difference", False
    else:
        is_noise = points.is_noise
        side = "better" if points.mean > 0.0 else "worse"
        size = f"{measure.gain(abs(points.mean))}{measure.gain_unit}"
        difference = f"{size} {side}{', within the noise,' if is_noise else ''}"
    if outcome == "improved":
        if fewer_failures:
            return f"improved: {fewer_failures} fewer failed, else {difference}"
        return f"improved by {measure.gain(0.0 if points is None else points.mean)}{measure.gain_unit}"
    is_unclear = is_noise and points is not None and points.mean > 0.0
    return f"{'no clear improvement' if is_unclear else outcome}: {difference}"


def _details(split: str, place: str, found: PairedGaps, measure: Measure) -> str:
    facts, points = [], found.points
    if points is not None and points.bounds is not None:
        facts.append(f"95 % interval {measure.gain_span(points.bounds)}")
    facts.append(f"{found.won} won, {found.lost} lost")
    if found.failures or found.their_failures:
        facts.append(f"failed on {found.failures}, the start on {found.their_failures}")
    chosen = "; these chose the algorithm, `dga2d test` compares on held-out ones" if split != "test" else ""
    return f"on {place} ({', '.join(facts)}){chosen}"


def _verdict(
    state: RunState, program: ScoredProgram, record: ValidationRecord, validated: Gaps
) -> RunVerdict | None:
    baseline = state.header.baseline
    kept = RunVerdict("baseline kept", None, "not improved: the start was kept")
    is_kept, test = program.steps == baseline, state.test
    tested = _tested_pairs(state, is_kept)
    if tested is None or test is None or test.candidates[0].pipeline != program.steps:
        return kept if is_kept else _validated_verdict(state, program, record, validated)
    verdict, timed = kept, _tested_pairs(state, is_kept, is_timed=True)
    measure = measure_of(state.header)
    if tested.start is not None:
        verdict = _judge("test", tested.start, measure)
    if tested.start is not None and timed is not None and timed.start is not None:
        by_clock = replace(_judge("test", timed.start, measure), limit_s=_limit_s(test))
        verdict = replace(verdict, in_seconds=by_clock)
    sentence = conclusion(state, program.steps, tested, timed)
    return replace(verdict, hand_tuned=tested.hand_tuned, conclusion=sentence)


def _validated_verdict(
    state: RunState, program: ScoredProgram, record: ValidationRecord, validated: Gaps
) -> RunVerdict | None:
    baseline = state.header.baseline
    if pooled := _pool_gaps(state, program.steps, baseline):
        told = "pairs of a validation instance and a random stream"
        return compare("validation", *pooled, told, measure_of(state.header))
    before = record.gaps(state.header, baseline, program.generation)
    if not (validated and before):
        return None
    return compare("validation", validated, before, measure=measure_of(state.header))


def _pool_gaps(state: RunState, *programs: tuple[Step, ...]) -> tuple[Gaps, Gaps] | None:
    """Return the gaps of two pipelines in all validations in which both took part; ``None`` if there is none
    or validations are not pooled."""
    first, second = dict[InstanceKey, float | None](), dict[InstanceKey, float | None]()
    for round_ in state.validated:
        if all(steps in round_.pipelines for steps in programs):
            for gaps, steps in zip((first, second), programs, strict=True):
                objectives = dict(zip(round_.instances, round_.row(steps), strict=True))
                found = gaps_of(state.header, "validation", objectives)
                gaps.update((InstanceKey(f"{round_.generation} {key}"), gap) for key, gap in found.items())
    return (first, second) if first else None


def _limit_s(test: TestState) -> float:
    """Return the seconds that each instance was given where the clock was the budget."""
    return next(c.time_limit_s for c in test.candidates if c.time_limit_s is not None)


def _tested_pairs(state: RunState, is_kept: bool, is_timed: bool = False) -> TestedPairs | None:
    """Return what the last finished test compared under the run's own budget, or under one of seconds
    instead; ``None`` where there was no such test."""
    gaps = held_out_gaps(state, is_timed)
    if gaps is None:
        return None
    start = None if is_kept else pair_gaps(gaps["evolved"], gaps["baseline"])
    if "hand_tuned" not in gaps:
        return TestedPairs(start, None)
    if not is_timed and _is_unmeasured(state):
        return TestedPairs(start, None, is_unmeasured=True)
    return TestedPairs(start, pair_gaps(gaps["evolved"], gaps["hand_tuned"]))


def _is_unmeasured(state: RunState) -> bool:
    """Return whether measuring the work of hand-tuned code failed on most sizes of instances: what the others
    say of a unit, if anything, need not hold there."""
    brought = () if state.test is None else state.test.hand_tuned
    measured = [state.work_rates.measured.get(operator.implementations[0].id) for operator in brought]
    return any(2 * sum(not point.work for point in points or ()) > len(points or ()) for points in measured)


def held_out_gaps(
    state: RunState, is_timed: bool = False, common: References | None = None
) -> dict[str, Gaps] | None:
    """Return the gaps of the last finished test by label; the baseline's are both arms' where it was kept.

    They are those under the run's own budget, or those under a limit of seconds instead; behind the run's own
    references, or `common` ones.
    """
    found = {
        label: gaps_of(state.header, "test", objectives, common)
        for label, objectives in held_out_objectives(state, is_timed).items()
    }
    return {"evolved": found["baseline"], **found} if found else None


def held_out_objectives(
    state: RunState, is_timed: bool = False
) -> dict[str, dict[InstanceKey, float | None]]:
    """Return the objectives of the last finished test by label and instance, under the run's own budget or
    one of seconds instead; nothing where there was no such test.
    """
    test = state.test
    if test is None or test.mean_gaps is None:
        return {}
    own = len(test.candidates) - _further(state, test)
    return {
        candidate.label: {key: outcome.objective for key, outcome in test.outcomes.row(number).items()}
        for number, candidate in enumerate(test.candidates[:own])
        if (candidate.time_limit_s is not None) == is_timed
    }


def _further(state: RunState, test: TestState) -> int:
    """Return how many candidates of a test are there for `test_seconds`; they are the last ones."""
    return len(state.settings.test_limits_s) * len({candidate.label for candidate in test.candidates})


def gaps_by_seconds(state: RunState, common: References | None = None) -> dict[float, dict[str, Gaps]]:
    """Return the gaps of the last finished test by seconds per instance (`test_seconds`) and label, behind
    references as those of `held_out_gaps`; the baseline's are both arms' where it was kept."""
    test = state.test
    if test is None or test.mean_gaps is None:
        return {}
    found: dict[float, dict[str, Gaps]] = {}
    first = len(test.candidates) - _further(state, test)
    for number, candidate in enumerate(test.candidates[first:], start=first):
        objectives = {key: outcome.objective for key, outcome in test.outcomes.row(number).items()}
        assert candidate.time_limit_s is not None
        arms = found.setdefault(candidate.time_limit_s, {})
        arms[candidate.label] = gaps_of(state.header, "test", objectives, common)
    return {limit: {"evolved": arms["baseline"], **arms} for limit, arms in found.items()}
