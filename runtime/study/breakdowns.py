"""A study's figures by group of held-out instances, by seconds of the test, and what its runs used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from dga2d.events import InstanceKey
from dga2d.runtime.inspection.measures import Measure
from dga2d.runtime.inspection.pairs import Spread, spread
from dga2d.runtime.study.results import START, CellResult, StudyResults

PartsOf = Callable[[CellResult, bool], Mapping[str, Mapping[InstanceKey, float]]]


class Part(NamedTuple):
    """The held-out gap of an arm on a part of the test."""

    domain: str
    arm: str
    part: str
    """Group of instances, or wall-clock budget."""
    gap: Spread
    measure: Measure
    is_best: bool
    """Whether no other arm is better there."""


class Resources(NamedTuple):
    """What the runs of an arm used, means over them; held-out tests are no part of it."""

    domain: str
    arm: str
    runs: int
    calls: float
    tokens: float
    cost_usd: float
    seconds: float
    cpu_s: float | None
    peak_mib: float | None
    """The largest of them."""
    evaluations: float
    work: float


def by_group(results: StudyResults) -> list[Part]:
    """Return the gaps by group of the plan's `test_group`; nothing where no run has one."""

    def parts(run: CellResult, is_start: bool) -> Mapping[str, Mapping[InstanceKey, float]]:
        from dga2d.runtime.runs.problem import is_of_group  # numpy; other reports do without

        gaps = run.start if is_start else run.gaps
        return {
            name: {key: gap for key, gap in gaps.items() if is_of_group(key, name)}
            for name in run.test_groups
        }

    return _parts(results, parts)


def by_seconds(results: StudyResults) -> list[Part]:
    """Return the gaps by wall-clock budget of the plan's `test_seconds`; nothing where no run has one."""

    def parts(run: CellResult, is_start: bool) -> Mapping[str, Mapping[InstanceKey, float]]:
        label = "baseline" if is_start else "evolved"
        return {f"{limit:g} s": arms[label] for limit, arms in run.by_seconds.items()}

    return _parts(results, parts)


def _parts(results: StudyResults, parts: PartsOf) -> list[Part]:
    found: list[Part] = []
    for domain in results.plan.domains:
        runs = [run for run in results.results if run.cell.domain == domain]
        found += _best_marked([*_of_arm(START, runs, parts, is_start=True), *_of_arms(runs, parts)])
    return found


def _of_arms(runs: Sequence[CellResult], parts: PartsOf) -> Iterable[Part]:
    for arm in dict.fromkeys(run.cell.arm for run in runs):
        yield from _of_arm(arm, [run for run in runs if run.cell.arm == arm], parts)


def _of_arm(
    arm: str, runs: Sequence[CellResult], parts: PartsOf, *, is_start: bool = False
) -> Iterable[Part]:
    gaps: dict[str, list[float]] = {}
    for run in runs:
        for name, own in parts(run, is_start).items():
            if own:
                gaps.setdefault(name, []).append(fmean(own.values()))
    for name, values in gaps.items():
        yield Part(runs[0].cell.domain, arm, name, spread(values), runs[0].measure, is_best=False)


def _best_marked(parts: Sequence[Part]) -> list[Part]:
    least: dict[str, float] = {}
    for part in parts:
        least[part.part] = min(part.gap.mean, least.get(part.part, part.gap.mean))
    return [part._replace(is_best=part.gap.mean <= least[part.part]) for part in parts]


def resources(results: StudyResults) -> list[Resources]:
    """Return what the tested runs of each domain and arm used."""
    found: dict[tuple[str, str], list[CellResult]] = {}
    for domain in results.plan.domains:
        for run in results.results:
            if run.cell.domain == domain:
                found.setdefault((domain, run.cell.arm), []).append(run)
    return [_resources(*place, runs) for place, runs in found.items()]


def _resources(domain: str, arm: str, runs: Sequence[CellResult]) -> Resources:
    cpu = [run.usage.cpu_s for run in runs if run.usage.cpu_s is not None]
    peak = [run.usage.peak_bytes for run in runs if run.usage.peak_bytes is not None]
    return Resources(
        domain=domain,
        arm=arm,
        runs=len(runs),
        calls=fmean(run.progress.calls for run in runs),
        tokens=fmean(run.progress.tokens for run in runs),
        cost_usd=fmean(run.progress.cost_usd for run in runs),
        seconds=fmean(run.usage.seconds for run in runs),
        cpu_s=fmean(cpu) if len(cpu) == len(runs) else None,
        peak_mib=max(peak) / 2**20 if len(peak) == len(runs) else None,
        evaluations=fmean(run.usage.evaluations for run in runs),
        work=fmean(run.usage.work for run in runs),
    )


def resource_view(row: Resources) -> dict[str, Any]:
    """Return plain values for JSON and CSV."""
    view = row._asdict()
    return {key: round(value, 6) if isinstance(value, float) else value for key, value in view.items()}


def part_view(part: Part) -> dict[str, Any]:
    """Return plain values for JSON and CSV; gaps are in percent, scores the negated hundredth of them."""
    return {
        "domain": part.domain,
        "arm": part.arm,
        "part": part.part,
        "seeds": part.gap.runs,
        "gap_percent": round(part.gap.mean, 4),
        "gap_sd": round(part.gap.sd, 4),
        "is_best": part.is_best,
    }


def course_view(run: CellResult) -> list[dict[str, Any]]:
    """Return the course of a run as plain values, a row for each validated generation."""
    return [
        {
            **run.cell._asdict(),
            "calls": reached.calls,
            "tokens": reached.tokens,
            "seconds": round(reached.usage.seconds, 3),
            "cpu_s": None if reached.usage.cpu_s is None else round(reached.usage.cpu_s, 3),
            "evaluations": reached.usage.evaluations,
            "work": reached.usage.work,
            "gap_percent": round(reached.gap, 4),
        }
        for reached in run.course
    ]
