"""A study's figures for a paper: convergence with bands, and performance profiles. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dga2d.runtime.inspection.measures import GAP
from dga2d.runtime.study.results import CellResult, StudyResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLES = ("-", "--", "-.", ":")
"""Arms are told apart by their lines, too, where colours are not seen."""


def write_figures(results: StudyResults, folder: Path) -> list[Path]:
    """Write ``convergence-DOMAIN-calls``, ``convergence-DOMAIN-tokens`` and ``profile`` as PNG and SVG.

    Returns the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    drawn: dict[str, Figure] = {}
    for domain in results.plan.domains:
        own = [one for one in results.results if one.cell.domain == domain and one.course]
        for place, unit in enumerate(("calls", "tokens")):
            if any(one.course[-1][place] for one in own):
                drawn[f"convergence-{domain}-{unit}"] = convergence(own, place, f"{domain}: validation", unit)
    if results.results:
        drawn["profile"] = profile(results)
    files = []
    for name, figure in drawn.items():
        for ending in ("png", "svg"):
            files.append(folder / f"{name}.{ending}")
            figure.savefig(files[-1], dpi=200, metadata={"Date": None} if ending == "svg" else None)
    return files


def convergence(runs: Sequence[CellResult], place: int, title: str, unit: str) -> Figure:
    """Draw the mean validation gap, or score, so far over what was used, with a band from the least to the
    largest seed; steps hold until the next validation."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    axes = figure.subplots()
    measure = runs[0].measure
    for number, (arm, own) in enumerate(_by_arm(runs).items()):
        grid = np.array(sorted({entry[place] for run in own for entry in run.course}), dtype=float)
        values = np.array([[measure.value(_at(run, place, point)) for point in grid] for run in own])
        style = STYLES[number % len(STYLES)]
        (line,) = axes.step(grid, values.mean(axis=0), style, where="post", label=arm)
        low, high = values.min(axis=0), values.max(axis=0)
        axes.fill_between(grid, low, high, step="post", alpha=0.15, color=line.get_color(), linewidth=0)
    axes.set_title(title)
    axes.set_xlabel(unit)
    axes.set_ylabel(f"{measure.column} so far" if measure is not GAP else "gap so far, %")
    axes.legend()
    return figure


def _at(run: CellResult, place: int, point: float) -> float:
    """Return the gap when `point` had been used; that of the first validation before it."""
    reached = [gap for *used, gap in run.course if used[place] <= point]
    return reached[-1] if reached else run.course[0][2]


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
