"""The runs of a database side by side: their list as it changes, and the comparison of any number of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from dga2d.events import Dga2dError
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.inspection.measures import GAP, Measure, measure_in, measure_of
from dga2d.runtime.inspection.runs import status_of
from dga2d.runtime.inspection.verdict import Achievement, read_achievement
from dga2d.runtime.inspection.views import best_gap, history_view, results_view, run_row
from dga2d.runtime.report.data import ReportData
from dga2d.runtime.report.milestones import LEVELS
from dga2d.runtime.runs.states import load_state
from dga2d.store import EventStore, RunSummary

POLL_S = 0.4
"""Seconds between two looks at the heads of all logs."""
SPARK_WIDTH, SPARK_HEIGHT = 96, 22
MOST_COMPARED = 12
"""Runs in one comparison; more curves cannot be told apart."""


@dataclass(frozen=True)
class RunRow:
    """A run in the list: plain values; ``None`` where the log does not say, or cannot be read."""

    run: str
    domain: str | None
    created_at: int
    """Microseconds since 1970, UTC."""
    events: int
    parent: str | None
    status: str
    generations: int | None = None
    generations_limit: int | None = None
    calls: int | None = None
    cost_usd: float | None = None
    measure: Measure = GAP
    """What the figures below stand for."""
    best_gap_percent: float | None = None
    validation_gap_percent: float | None = None
    test_gap_percent: float | None = None
    outcome: str = ""
    """``improved``, ``not improved`` or ``baseline kept``; empty while there is no verdict."""
    sentence: str = ""
    spark: str = ""
    """Best gap so far by generation as the vertices of a line, `SPARK_WIDTH` × `SPARK_HEIGHT`."""


@dataclass
class Dashboard:
    """Rows of all runs; what has not changed is not read again."""

    store: EventStore
    _rows: dict[str, tuple[tuple[int, bool], RunRow]] = field(default_factory=dict)

    async def rows(self) -> list[RunRow]:
        """Return all runs, newest first."""
        return [await self._row(run) for run in reversed(await self.store.runs())]

    def find_row(self, run: str, head_seq: int) -> RunRow | None:
        """Return the row of a run as it was last listed; ``None`` where its log has grown since."""
        place, row = self._rows.get(run, ((0, False), None))
        return row if place[0] == head_seq else None

    async def changes(self) -> AsyncIterator[int]:
        """Yield the number of events of all runs together whenever a log has grown or its writer has gone."""
        seen: object = None
        while True:
            runs = await self.store.runs()
            heads = [(run.run_id, run.head_seq, run.is_leased) for run in runs]
            if heads != seen:
                seen = heads
                yield sum(run.head_seq for run in runs)
            await anyio.sleep(POLL_S)

    async def _row(self, run: RunSummary) -> RunRow:
        place = (run.head_seq, run.is_leased)
        kept = self._rows.get(run.run_id)
        if kept is None or kept[0] != place:
            kept = self._rows[run.run_id] = (place, await self._read(run))
        return kept[1]

    async def _read(self, run: RunSummary) -> RunRow:
        told = run_row(run)
        known = {key: told[key] for key in ("run", "domain", "created_at", "events", "parent")}
        try:
            state = await load_state(self.store, run.run_id)
            if state.started is None:
                return RunRow(**known, status="new")
            # the verdict of a run under way changes with every validation, and reads all of them
            achieved = (
                Achievement() if run.is_leased else await read_achievement(self.store, run.run_id, state)
            )
        except Dga2dError:
            return RunRow(**known, status="damaged")
        return RunRow(**known, status=status_of(run, state), **_figures(state, achieved))


def _figures(state: RunState, achieved: Achievement) -> dict[str, Any]:
    results = results_view(state, achieved)
    verdict, checkpoint, test = (results[key] or {} for key in ("verdict", "checkpoint", "test"))
    return {
        "generations": state.completed,
        "generations_limit": state.settings.generations if state.settings.evolves_pipelines else None,
        "calls": state.ledger.used,
        "cost_usd": state.ledger.cost_usd,
        "measure": measure_of(state.header),
        "best_gap_percent": best_gap(state),
        "validation_gap_percent": checkpoint.get("gap_percent"),
        "test_gap_percent": (test.get("gap_percent") or {}).get("evolved"),
        "outcome": verdict.get("outcome", ""),
        "sentence": verdict.get("sentence", ""),
        "spark": _spark(
            [
                measure_of(state.header).value(gap)
                for row in history_view(state)
                if (gap := row["best_so_far_percent"]) is not None
            ]
        ),
    }


def _spark(figures: Sequence[float]) -> str:
    """Return the vertices of a line through figures, the larger the higher."""
    if len(figures) < 2:
        return ""
    low, high = min(figures), max(figures)
    reach = (high - low) or 1.0
    step = SPARK_WIDTH / (len(figures) - 1)
    heights = (2 + (high - one) / reach * (SPARK_HEIGHT - 4) for one in figures)
    return " ".join(f"{step * index:.1f},{height:.1f}" for index, height in enumerate(heights))


# ------------------------------------------------------------ comparison


@dataclass(frozen=True)
class ComparedRow:
    """A fact of several runs."""

    name: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


def compare_runs(reports: Sequence[ReportData]) -> list[ComparedRow]:
    """Return what is known of each run, a row per fact, and the settings in which they are not equal."""
    views = [data.view for data in reports]
    rows = [
        ComparedRow(name, tuple(str(view[key]) for view in views))
        for name, key in (("domain", "domain"), ("status", "status"), ("seed", "seed"))
    ]
    rows.append(compared_row("generations", [view["completed_generations"] for view in views]))
    rows.append(compared_row("calls charged", [view["ledger"]["used"] for view in views]))
    rows.append(compared_row("cost", [f"{view['ledger']['cost_usd']:.4f} USD" for view in views]))
    rows.append(compared_row("verdict", [(view["verdict"] or {}).get("sentence", "") for view in views]))
    rows.append(compared_row("best on training", [_figure(view["best"]) for view in views]))
    rows.append(compared_row("checkpoint on validation", [_figure(view["checkpoint"]) for view in views]))
    for label, name in LEVELS.items():
        found = [_test_text(view["test"], label) for view in views]
        if label != "hand_tuned" or any(found):
            rows.append(compared_row(name, found))
    algorithms = [" → ".join(step.operator for step in data.algorithm) for data in reports]
    rows.append(compared_row("algorithm", algorithms))
    keys = dict.fromkeys(key for view in views for key in view["settings"])
    settings = (compared_row(key, [view["settings"].get(key, "") for view in views]) for key in keys)
    return rows + [row for row in settings if row.differs]


def compared_row(name: str, values: Sequence[object]) -> ComparedRow:
    """Return a row of the comparison."""
    return ComparedRow(name, tuple(map(str, values)))


def _figure(program: dict[str, Any] | None) -> str:
    if program is None:
        return ""
    return _with_interval(measure_in(program), program["gap_percent"], program.get("interval_percent"))


def _test_text(test: dict[str, Any] | None, label: str) -> str:
    if test is None or not test["finished"] or label not in test["gap_percent"]:
        return ""
    return _with_interval(measure_in(test), test["gap_percent"][label], test["interval_percent"][label])


def _with_interval(measure: Measure, gap: float | None, bounds: Sequence[float] | None) -> str:
    span = measure.span(bounds)
    return measure.text(gap) + (f" ({span})" if span else "")
