"""What a study found: figures of its tested runs by domain and arm, which differences are not luck, and what
a run had used by when.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any, NamedTuple

from dga2d.events import InstanceKey, RecordedEvent
from dga2d.events.payloads import EvaluationRecorded, GenerationCompleted, InstanceEntry
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.inspection.measures import GAP, Measure, measure_of
from dga2d.runtime.inspection.pairs import Gaps, Interval, Spread, interval, spread
from dga2d.runtime.inspection.validations import References, common_references
from dga2d.runtime.inspection.verdict import gaps_by_seconds, held_out_gaps, held_out_objectives
from dga2d.runtime.inspection.views import history_view
from dga2d.runtime.runs.states import load_state
from dga2d.runtime.study.cells import CellProgress, read_progress
from dga2d.runtime.study.plan import Cell, StudyPlan
from dga2d.store import open_store


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


FAILED = 100.0
"""Gap in percent that a failed evaluation counts as, where the domain has no score for it."""
START = "start"
"""The row of what the runs began with: the safe baseline of their library."""
LEVEL = 0.05


@dataclass(frozen=True)
class CellResult:
    """A tested run."""

    cell: Cell
    gaps: Mapping[InstanceKey, float]
    """Gap of its algorithm in percent, by held-out instance."""
    start: Mapping[InstanceKey, float]
    """Gap of the safe baseline it began with."""
    in_seconds: Mapping[InstanceKey, float] | None
    """Gap of its algorithm in the seconds that its work stands for; ``None`` where its budget is in seconds
    or not calibrated."""
    objectives: Mapping[InstanceKey, float | None]
    measure: Measure
    progress: CellProgress
    course: tuple[Reached, ...]
    """One entry for each validated generation."""
    usage: Usage = NOTHING
    test_groups: tuple[str, ...] = ()
    """Names of `test_group`."""
    by_seconds: Mapping[float, Mapping[str, Mapping[InstanceKey, float]]] = field(default_factory=dict)
    """Gaps by wall-clock budget of `test_seconds`, then ``evolved`` and ``baseline``."""


class Difference(NamedTuple):
    """An arm beside the reference arm on the same instances."""

    points: Interval
    """Gap of the reference arm minus that of the arm, mean and 95 % interval over instances (means over
    seeds): above 0 the arm is ahead."""
    won: int
    lost: int
    p_value: float
    """Of Wilcoxon's signed-rank test over instances (means over seeds)."""
    adjusted: float
    """The same, corrected for all comparisons of the study."""

    @property
    def is_significant(self) -> bool:
        return self.adjusted < LEVEL


@dataclass(frozen=True)
class Row:
    """An arm in a domain."""

    domain: str
    arm: str
    measure: Measure
    """What `gap` and the others stand for."""
    gap: Spread
    in_seconds: Spread | None
    """The gap in equal seconds; ``None`` where not all of its runs were tested so."""
    objective: float | None
    """Mean over instances and seeds; ``None`` where an evaluation failed."""
    is_best: bool
    difference: Difference | None
    """``None`` for the reference arm, and where an arm has other seeds or instances than it."""
    calls: float
    tokens: float
    cost_usd: float
    seconds: float
    """Means over its runs."""


@dataclass(frozen=True)
class StudyResults:
    """All figures of a study."""

    plan: StudyPlan
    cells: tuple[CellProgress, ...]
    results: tuple[CellResult, ...]
    rows: tuple[Row, ...]
    trainings: Mapping[str, str] = field(default_factory=dict)
    """How long each learned solver of the rows was trained, in words."""

    @property
    def is_complete(self) -> bool:
        return all(cell.status == "tested" for cell in self.cells)


async def read_results(url: str, plan: StudyPlan) -> StudyResults:
    """Return the figures of all tested runs of a study. Raises as `read_progress`."""
    cells = await read_progress(url, plan)
    results = []
    common: dict[str, dict[InstanceKey, InstanceEntry]] = {}
    if any(cell.status == "tested" for cell in cells):
        async with open_store(url, create=False, read_only=True) as store:
            for found in cells:
                if found.status == "tested":
                    run = plan.run_id(found.cell)
                    used, state = await usage_by_generation(store.read(run)), await load_state(store, run)
                    known = common.setdefault(found.cell.domain, {})
                    for key, entry in common_references([state.header]).items():
                        known.setdefault(key, entry)
                    results.append(_result(found, state, used, known))
    return StudyResults(plan, tuple(cells), tuple(results), rows_of(plan, results))


def _result(
    progress: CellProgress, state: RunState, used: dict[int, Usage], common: References
) -> CellResult:
    gaps = held_out_gaps(state, common=common)
    assert gaps is not None
    timed = held_out_gaps(state, is_timed=True, common=common)
    objectives = held_out_objectives(state)
    own = state.header.own_score
    failed = FAILED if own is None else -100.0 * own.failure
    return CellResult(
        cell=progress.cell,
        gaps=_count_failures(gaps["evolved"], failed),
        start=_count_failures(gaps["baseline"], failed),
        in_seconds=None if timed is None else _count_failures(timed["evolved"], failed),
        objectives=objectives.get("evolved", objectives["baseline"]),
        measure=measure_of(state.header),
        progress=progress,
        course=course_of(state, used),
        usage=used.get(state.completed, NOTHING),
        test_groups=tuple(name.strip() for name in state.settings.test_group.split(",") if name.strip()),
        by_seconds={
            limit: {label: _count_failures(found, failed) for label, found in arms.items()}
            for limit, arms in gaps_by_seconds(state, common).items()
        },
    )


def _count_failures(gaps: Gaps, failed: float) -> dict[InstanceKey, float]:
    return {key: failed if gap is None else gap for key, gap in gaps.items()}


def rows_of(plan: StudyPlan, results: Sequence[CellResult]) -> tuple[Row, ...]:
    """Return a row for every domain and arm that has a tested run, and one for what they began with."""
    rows: list[Row] = []
    for domain in plan.domains:
        found = {
            arm: [one for one in results if (one.cell.domain, one.cell.arm) == (domain, arm)]
            for arm in (*plan.arms, *plan.solvers)
        }
        found = {arm: runs for arm, runs in found.items() if runs}
        if not found:
            continue
        means = {arm: fmean(fmean(run.gaps.values()) for run in runs) for arm, runs in found.items()}
        evolved = [run for arm, runs in found.items() if arm in plan.arms for run in runs]
        rows.append(_start_row(domain, evolved))
        for arm, runs in found.items():
            other = found.get(plan.reference_arm, []) if arm != plan.reference_arm else []
            rows.append(_row(domain, arm, runs, other, means[arm] <= min(means.values())))
    return _correct_p_values(rows)


def _start_row(domain: str, runs: Sequence[CellResult]) -> Row:
    by_seed: dict[int, list[float]] = {}
    for run in runs:
        by_seed.setdefault(run.cell.seed, []).append(fmean(run.start.values()))
    begun = spread([fmean(v) for v in by_seed.values()])
    return Row(domain, START, runs[0].measure, begun, None, None, False, None, 0, 0, 0, 0)


def _row(domain: str, arm: str, runs: Sequence[CellResult], other: Sequence[CellResult], best: bool) -> Row:
    objectives = [value for run in runs for value in run.objectives.values()]
    timed = [fmean(run.in_seconds.values()) for run in runs if run.in_seconds is not None]
    solved = [value for value in objectives if value is not None]
    return Row(
        domain=domain,
        arm=arm,
        measure=runs[0].measure,
        gap=spread([fmean(run.gaps.values()) for run in runs]),
        in_seconds=spread(timed) if len(timed) == len(runs) else None,
        objective=fmean(solved) if solved and len(solved) == len(objectives) else None,
        is_best=best,
        difference=_difference(other, runs) if other else None,
        calls=fmean(run.progress.calls for run in runs),
        tokens=fmean(run.progress.tokens for run in runs),
        cost_usd=fmean(run.progress.cost_usd for run in runs),
        seconds=fmean(run.progress.seconds or 0.0 for run in runs),
    )


def _difference(reference: Sequence[CellResult], runs: Sequence[CellResult]) -> Difference | None:
    """Return how `runs` differ from the reference arm's on the seeds and instances that both have."""
    seeds = {run.cell.seed for run in runs} & {run.cell.seed for run in reference}
    theirs, ours = (_by_instance(arm, seeds) for arm in (reference, runs))
    keys = sorted(theirs.keys() & ours.keys())
    if not keys:
        return None
    gains = [theirs[key] - ours[key] for key in keys]
    won, lost = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    return Difference(interval(gains), won, lost, p_value(gains), math.nan)


def _by_instance(runs: Iterable[CellResult], seeds: set[int]) -> dict[InstanceKey, float]:
    values: dict[InstanceKey, list[float]] = {}
    for run in runs:
        if run.cell.seed in seeds:
            for key, gap in run.gaps.items():
                values.setdefault(key, []).append(gap)
    return {key: fmean(gaps) for key, gaps in values.items()}


def p_value(gains: Sequence[float]) -> float:
    """Return Wilcoxon's two-sided p-value of paired differences; 1 where all are 0.

    References
    ----------
    F. Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1(6), 1945.
    """
    if not any(gains):
        return 1.0
    from scipy.stats import wilcoxon

    return float(wilcoxon(gains).pvalue)


def _correct_p_values(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Fill in the p-values corrected for the false discovery rate of all comparisons.

    References
    ----------
    Y. Benjamini, Y. Hochberg, Controlling the false discovery rate, Journal of the Royal Statistical Society
    B 57(1), 1995.
    """
    values = [row.difference.p_value for row in rows if row.difference is not None]
    if not values:
        return tuple(rows)
    from scipy.stats import false_discovery_control

    adjusted = iter(false_discovery_control(values).tolist())
    return tuple(
        row
        if row.difference is None
        else replace(row, difference=row.difference._replace(adjusted=next(adjusted)))
        for row in rows
    )


def row_view(row: Row) -> dict[str, Any]:
    """Return plain values for JSON and CSV. A domain with a score of its own has the columns of scores,
    others those of gaps."""
    found, timed = row.difference, row.in_seconds
    points = None if found is None else found.points.mean
    low, high = (None, None) if found is None else found.points.bounds or (None, None)
    least, most = row.gap.interval.bounds or (None, None)
    figures: dict[str, float | None] = {
        "gap_percent": round(row.gap.mean, 4),
        "gap_sd": round(row.gap.sd, 4),
        "gap_low_percent": least,
        "gap_high_percent": most,
        "gap_in_seconds_percent": None if timed is None else round(timed.mean, 4),
        "gain_points": None if points is None else round(points, 4),
        "gain_low_points": low,
        "gain_high_points": high,
    }
    scores: dict[str, float | None] = {
        "score": row.measure.value(row.gap.mean),
        "score_sd": round(row.gap.sd / 100.0, 6),
        "score_low": None if most is None else row.measure.value(most),
        "score_high": None if least is None else row.measure.value(least),
        "score_in_seconds": None if timed is None else row.measure.value(timed.mean),
        "gain_score": None if points is None else round(points / 100.0, 6),
        "gain_low_score": None if low is None else round(low / 100.0, 6),
        "gain_high_score": None if high is None else round(high / 100.0, 6),
    }
    is_gap = row.measure is GAP
    return {
        "domain": row.domain,
        "arm": row.arm,
        "seeds": row.gap.runs,
        **(figures if is_gap else dict.fromkeys(figures)),
        **(dict.fromkeys(scores) if is_gap else scores),
        "objective": row.objective,
        "is_best": row.is_best,
        "won": None if found is None else found.won,
        "lost": None if found is None else found.lost,
        "p_value": None if found is None else found.p_value,
        "p_adjusted": None if found is None else found.adjusted,
        "calls": row.calls,
        "tokens": row.tokens,
        "cost_usd": row.cost_usd,
        "seconds": round(row.seconds, 1),
    }
