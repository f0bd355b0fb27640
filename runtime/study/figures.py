"""A study's figures for a paper: convergence with bands, gaps over the test's seconds, performance profiles.
They need matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from dga2d.runtime.inspection.measures import GAP, Measure
from dga2d.runtime.inspection.pairs import spread
from dga2d.runtime.study.results import START, CellResult, Reached, StudyResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Spent = Callable[[Reached], float]
UNITS: Mapping[str, Spent] = {
    "calls": lambda reached: reached.calls,
    "tokens": lambda reached: reached.tokens,
    "seconds": lambda reached: reached.usage.seconds,
    "processor seconds": lambda reached: reached.usage.cpu_s or 0.0,
    "evaluations": lambda reached: reached.usage.evaluations,
    "work units": lambda reached: reached.usage.work,
}
"""What convergence is drawn over."""

STYLES = ("-", "--", "-.", ":")
"""Arms are told apart by their lines, too, where colours are not seen."""


def write_figures(results: StudyResults, folder: Path) -> list[Path]:
    """Write figures as PNG and SVG: ``convergence-DOMAIN-UNIT`` for each unit that is known (`UNITS`),
    ``seconds-DOMAIN`` where the tests had further budgets, and ``profile``.

    Returns the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    drawn: dict[str, Figure] = {}
    for domain in results.plan.domains:
        own = [one for one in results.results if one.cell.domain == domain]
        validated = [one for one in own if one.course]
        for unit, spent in UNITS.items():
            if any(spent(one.course[-1]) for one in validated) and _is_known(unit, validated):
                title = f"{domain}: validation"
                name = f"convergence-{domain}-{unit.replace(' ', '-')}"
                drawn[name] = convergence(validated, spent, title, unit)
        if any(one.by_seconds for one in own):
            drawn[f"seconds-{domain}"] = over_seconds([one for one in own if one.by_seconds], domain)
    if results.results:
        drawn["profile"] = profile(results)
    files = []
    for name, figure in drawn.items():
        for ending in ("png", "svg"):
            files.append(folder / f"{name}.{ending}")
            figure.savefig(files[-1], dpi=200, metadata={"Date": None} if ending == "svg" else None)
    return files


def _is_known(unit: str, runs: Sequence[CellResult]) -> bool:
    """Return whether all runs say how much they used of a unit: logs of earlier versions have no processor
    time."""
    return unit != "processor seconds" or all(run.course[-1].usage.cpu_s is not None for run in runs)


def convergence(runs: Sequence[CellResult], spent: Spent, title: str, unit: str) -> Figure:
    """Draw the mean validation gap, or score, so far over what was used, with a band from the least to the
    largest seed; steps hold until the next validation."""
    measure = runs[0].measure
    figure, axes = _empty(title, unit, measure)
    for style, (arm, own) in zip(cycle(STYLES), _by_arm(runs).items()):
        grid = sorted({spent(entry) for run in own for entry in run.course})
        _band(axes, arm, style, grid, [[_at(run, spent, point) for point in grid] for run in own], measure)
    axes.legend()
    return figure


def over_seconds(runs: Sequence[CellResult], domain: str) -> Figure:
    """Draw the mean held-out gap, or score, over the test's wall-clock budgets, with a band from the least to
    the largest seed."""
    figure, axes = _empty(f"{domain}: held out", "wall-clock seconds per instance", runs[0].measure, "")
    arms = {START: list(runs), **_by_arm(runs)}
    for style, (arm, own) in zip(cycle(STYLES), arms.items()):
        label = "baseline" if arm == START else "evolved"
        grid = sorted(set.intersection(*(set(run.by_seconds) for run in own)))
        gaps = [[fmean(run.by_seconds[limit][label].values()) for limit in grid] for run in own]
        _band(axes, arm, style, grid, gaps, runs[0].measure, step=None)
    limits = sorted({limit for run in runs for limit in run.by_seconds})
    axes.set_xscale("log")
    axes.set_xticks(limits, [f"{limit:g}" for limit in limits])
    axes.minorticks_off()
    axes.legend()
    return figure


def _empty(title: str, unit: str, measure: Measure, so_far: str = " so far") -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title)
    axes.set_xlabel(unit)
    axes.set_ylabel(f"gap{so_far}, %" if measure is GAP else f"{measure.column}{so_far}")
    return figure, axes


def _band(
    axes: Axes,
    arm: str,
    style: str,
    grid: Sequence[float],
    gaps: Sequence[Sequence[float]],
    measure: Measure,
    step: Literal["post"] | None = "post",
) -> None:
    """Draw the mean of rows of gaps, one row for each run, and the band that they fill."""
    over = [spread([measure.value(gap) for gap in column]) for column in zip(*gaps, strict=True)]
    drawstyle = "default" if step is None else "steps-post"
    (line,) = axes.plot(grid, [one.mean for one in over], style, label=arm, drawstyle=drawstyle, marker=".")
    low, high = [one.low for one in over], [one.high for one in over]
    axes.fill_between(grid, low, high, step=step, alpha=0.15, color=line.get_color(), linewidth=0)


def _at(run: CellResult, spent: Spent, point: float) -> float:
    """Return the gap when `point` had been used; that of the first validation before it."""
    reached = [entry.gap for entry in run.course if spent(entry) <= point]
    return reached[-1] if reached else run.course[0].gap


def profile(results: StudyResults) -> Figure:
    """Draw for each arm the share of instances on which its gap is at most τ points above the best arm's.

    References
    ----------
    E. D. Dolan, J. J. Moré, Benchmarking optimization software with performance profiles, Mathematical
    Programming 91, 2002; differences instead of ratios, since gaps may be 0.
    """
    from matplotlib.figure import Figure

    losses = profile_losses(results)
    largest = max((float(loss.max()) for loss in losses.values()), default=0.0) or 1.0
    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    axes = figure.subplots()
    for number, (arm, loss) in enumerate(losses.items()):
        steps = np.concatenate(([0.0], np.sort(loss), [largest]))
        share = [float((loss <= step).mean()) for step in steps]
        axes.step(steps, share, STYLES[number % len(STYLES)], where="post", label=arm)
    is_score = all(run.measure is not GAP for run in results.results)
    axes.set_xlabel("points (0.01) below the best arm" if is_score else "points above the best arm")
    axes.set_ylabel("share of instances")
    axes.set_ylim(0.0, 1.02)
    axes.legend()
    return figure


def profile_losses(results: StudyResults) -> Mapping[str, NDArray[np.float64]]:
    """Return by arm how many points its gap lies above the best one's, over the domains, seeds and instances
    that all arms have."""
    gaps: dict[tuple[object, ...], dict[str, float]] = {}
    for run in results.results:
        for key, gap in run.gaps.items():
            gaps.setdefault((run.cell.domain, run.cell.seed, key), {})[run.cell.arm] = gap
    whole = [found for found in gaps.values() if len(found) == len(results.plan.arms)]
    best = [min(found.values()) for found in whole]
    return {
        arm: np.array([found[arm] - low for found, low in zip(whole, best, strict=True)])
        for arm in results.plan.arms
        if whole
    }


def _by_arm(runs: Sequence[CellResult]) -> dict[str, list[CellResult]]:
    found: dict[str, list[CellResult]] = {}
    for run in runs:
        found.setdefault(run.cell.arm, []).append(run)
    return found
