"""Runs of equal settings taken together: one curve with a band, one column of means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from dga2d.events import RunId
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.inspection.measures import Measure, measure_in, measure_of
from dga2d.runtime.inspection.pairs import spread
from dga2d.runtime.inspection.verdict import read_achievement
from dga2d.runtime.inspection.views import history_view, results_view
from dga2d.runtime.page.dashboard import ComparedRow, compared_row
from dga2d.runtime.report.charts import Curve, GapPlot, Point
from dga2d.runtime.report.milestones import Level
from dga2d.runtime.runs.states import load_state
from dga2d.store import EventStore

NAMED_SETTINGS = 3
"""A group is named by the settings in which the groups differ, if they are no more than these."""


@dataclass(frozen=True)
class GroupedRun:
    """What of a run is compared with its like."""

    run: str
    state: RunState
    results: Mapping[str, Any]
    """As `results_view`."""
    history: Sequence[Mapping[str, Any]]

    @property
    def held_out(self) -> float | None:
        """Return the figure of the evolved algorithm on held-out instances, if it was tested."""
        found = (self.results["test"] or {}).get("gap_percent", {}).get("evolved")
        return None if found is None else float(found)


@dataclass(frozen=True)
class RunGroup:
    """Runs that differ in their seeds alone."""

    name: str
    runs: tuple[GroupedRun, ...]


async def read_group_member(store: EventStore, run: str, state: RunState) -> GroupedRun:
    """Return what is compared of a run."""
    achieved = await read_achievement(store, run, state)
    return GroupedRun(run, state, results_view(state, achieved), history_view(state))


async def read_groups(store: EventStore, runs: Sequence[str]) -> list[RunGroup]:
    """Return the `runs` in groups of equal domain and settings, in the order of their first members.

    Raises
    ------
    UnknownRunError, CorruptEventError, InvariantError
        There is no such run, or its log does not hold.
    """
    members: dict[tuple[str, str], list[GroupedRun]] = {}
    for run in runs:
        state = await load_state(store, RunId(run))
        if state.started is None:
            continue  # killed before its first event: there is nothing to compare
        key = (state.header.domain, state.settings.model_dump_json())
        members.setdefault(key, []).append(await read_group_member(store, run, state))
    names = _names([found[0] for found in members.values()])
    return [RunGroup(name, tuple(found)) for name, found in zip(names, members.values(), strict=True)]


def _names(firsts: Sequence[GroupedRun]) -> list[str]:
    """Return a name for each group: its domain where these differ, and the settings in which they do."""
    settings = [first.state.settings.model_dump(mode="json") for first in firsts]
    differing = [key for key in settings[0] if len({str(one[key]) for one in settings}) > 1] if firsts else []
    is_one_domain = len({first.state.header.domain for first in firsts}) == 1
    names = []
    for first, values in zip(firsts, settings, strict=True):
        parts = [] if is_one_domain else [first.state.header.domain]
        if len(differing) <= NAMED_SETTINGS:
            parts += [f"{key} = {values[key]}" for key in differing]
        elif differing:
            parts.append(f"like {first.run}")
        names.append(", ".join(parts) or "all runs")
    return names


def group_plot(groups: Sequence[RunGroup]) -> GapPlot | None:
    """Return the best figure so far by generation: means of groups, from their lowest to their highest run.

    A generation counts where all runs of the group have closed it. Groups whose figures are of another kind
    than the first one's are left out; ``None`` where nothing can be drawn.
    """
    if not groups:
        return None
    measure = measure_of(groups[0].runs[0].state.header)
    alike = [group for group in groups if measure_of(group.runs[0].state.header) is measure]
    drawn = [(group, curve) for group in alike if (curve := _curve(group, measure)).points]
    curves = [curve for _, curve in drawn]
    levels = [
        Level(f"{group.name}: held-out", fmean(found), place)
        for place, (group, _) in enumerate(drawn)
        if (found := [run.held_out for run in group.runs if run.held_out is not None])
    ]
    if not curves:
        return None
    last = max(curve.points[-1].x for curve in curves)
    return GapPlot(measure, "generation", (1.0, last), tuple(curves), tuple(levels))


def _curve(group: RunGroup, measure: Measure) -> Curve:
    points = []
    for rows in zip(*(run.history for run in group.runs), strict=False):
        gaps = [row["best_so_far_percent"] for row in rows]
        if None in gaps:
            continue
        band = spread([measure.value(gap) for gap in gaps])
        generation = rows[0]["generation"]
        text = f"generation {generation}: {measure.text(fmean(gaps))}"
        if band.runs > 1:
            text += f", from {band.low:.4g} to {band.high:.4g} in {band.runs} runs"
        points.append(Point(float(generation), band.mean, text, band.low, band.high))
    return Curve(f"{group.name} ({_count(len(group.runs))})", "steps", tuple(points))


def compare_groups(groups: Sequence[RunGroup]) -> list[ComparedRow]:
    """Return what is known of each group: counts, and means with standard deviations over its runs."""

    def over(read: Callable[[GroupedRun], float | None]) -> list[str]:
        return [_mean(group, [read(run) for run in group.runs]) for group in groups]

    rows = [
        compared_row("runs", [", ".join(run.run for run in group.runs) for group in groups]),
        compared_row("domain", [group.runs[0].state.header.domain for group in groups]),
        compared_row("improved", [_count_improved(group) for group in groups]),
        compared_row("best on training", over(lambda run: (run.results["best"] or {}).get("gap_percent"))),
        compared_row(
            "checkpoint on validation", over(lambda run: (run.results["checkpoint"] or {}).get("gap_percent"))
        ),
        compared_row("evolved, held-out", over(lambda run: run.held_out)),
        compared_row(
            "calls charged", [f"{fmean(run.state.ledger.used for run in g.runs):.1f}" for g in groups]
        ),
        compared_row(
            "cost", [f"{sum(run.state.ledger.cost_usd for run in group.runs):.4f} USD" for group in groups]
        ),
    ]
    settings = [group.runs[0].state.settings.model_dump(mode="json") for group in groups]
    of_settings = (compared_row(key, [one[key] for one in settings]) for key in settings[0])
    return rows + [row for row in of_settings if row.differs]


def _mean(group: RunGroup, found: Sequence[float | None]) -> str:
    """Return mean ± standard deviation of the figures there are, and of how many runs if not of all."""
    known = [one for one in found if one is not None]
    if not known:
        return ""
    measure, over = measure_in(group.runs[0].results), spread(known)
    deviation = f" ± {measure.gain(over.sd)}" if over.runs > 1 else ""
    share = "" if over.runs == len(found) else f" ({over.runs} of {_count(len(found))})"
    return f"{measure.text(over.mean)}{deviation}{share}"


def _count_improved(group: RunGroup) -> str:
    outcomes = [(run.results["verdict"] or {}).get("outcome") for run in group.runs]
    known = [outcome for outcome in outcomes if outcome]
    return f"{known.count('improved')} of {_count(len(known))}" if known else ""


def _count(runs: int) -> str:
    return f"{runs} run{'s' if runs != 1 else ''}"
