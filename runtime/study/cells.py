"""How far the runs of a study are, what is left to do, and what it may still cost: bounds from its settings,
times from its own finished runs. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

from dga2d.events import EventError
from dga2d.replay.errors import ReplayError
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.runs.estimate import estimate_run
from dga2d.runtime.runs.states import load_state
from dga2d.runtime.study.plan import Cell, StudyPlan
from dga2d.runtime.terminal.output import Announce
from dga2d.store import CorruptEventError, EventStore, MissingDatabaseError, RunSummary, open_store

CellStatus = Literal["absent", "begun", "evolved", "tested", "failed"]
FREE = frozenset({"evaluators", "llm_timeout", "llm_concurrent", "llm_key_file", "sandbox"})
"""Settings that a resumed run may have changed without being another experiment."""


@dataclass(frozen=True)
class CellProgress:
    """A cell as the database has it."""

    cell: Cell
    status: CellStatus
    is_running: bool = False
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    seconds: float | None = None
    """From its first event to its last by the clock; ``None`` before it was tested."""

    def view(self) -> dict[str, Any]:
        """Return plain values for the JSON of commands."""
        return {
            **self.cell._asdict(),
            "status": self.status,
            "is_running": self.is_running,
            "calls": self.calls,
            "tokens": self.tokens,
            "cost_usd": self.cost_usd,
            "seconds": self.seconds,
        }


async def read_progress(url: str, plan: StudyPlan, cells: Sequence[Cell] | None = None) -> list[CellProgress]:
    """Return how far cells are, in their order; all of the plan if none are named. One whose log does not
    hold has failed.

    Raises
    ------
    RunStateError
        A run of that name was begun with another seed or other settings than the plan's.
    """
    wanted = plan.cells if cells is None else cells
    try:
        async with open_store(url, create=False, read_only=True) as store:
            summaries = {run.run_id: run for run in await store.runs()}
            return [await _progress(store, plan, cell, summaries.get(plan.run_id(cell))) for cell in wanted]
    except MissingDatabaseError:  # the first run makes it
        return [CellProgress(cell, "absent") for cell in wanted]


async def _progress(store: EventStore, plan: StudyPlan, cell: Cell, run: RunSummary | None) -> CellProgress:
    if run is None or run.last_type is None:
        return CellProgress(cell, "absent")
    try:
        state = await load_state(store, run.run_id)
    except (ReplayError, EventError, CorruptEventError):  # `dga2d audit` says what; the other runs go on
        return CellProgress(cell, "failed", is_running=run.is_leased)
    _check_same(plan, cell, state)
    ledger = state.ledger
    seconds = None if run.last_recorded_at is None else (run.last_recorded_at - run.created_at) / 1e6
    status = _status(state)
    return CellProgress(
        cell=cell,
        status=status,
        is_running=run.is_leased,
        calls=ledger.used,
        tokens=ledger.prompt_tokens + ledger.completion_tokens,
        cost_usd=ledger.cost_usd,
        seconds=seconds if status == "tested" else None,
    )


def _status(state: RunState) -> CellStatus:
    if state.test is not None and state.test.mean_gaps is not None:
        return "tested"
    if state.status == "completed":
        return "evolved" if state.checkpoint is not None else "failed"
    return "failed" if state.status == "failed" else "begun"


def _check_same(plan: StudyPlan, cell: Cell, state: RunState) -> None:
    run = plan.run_id(cell)
    began = RunSettings.model_validate(state.header.settings)
    if state.header.seed != cell.seed or state.header.domain != cell.domain:
        raise RunStateError(f"run {run} has another seed or domain than the plan; use another --store")
    wanted = plan.effective(cell)
    for key, value in wanted:
        if key not in FREE and getattr(began, key) != value:
            raise RunStateError(
                f"run {run} began with {key} = {getattr(began, key)!r}, the plan says {value!r}: give the "
                "plan's file another name, or use another --store"
            )


class WorkBudget(NamedTuple):
    """Work units that an evaluation of a problem gets."""

    domain: str
    work: int


WorkSeconds = Mapping[WorkBudget, float]
"""Seconds that an evaluation of a budget takes here."""


async def measure_work_budgets(
    plan: StudyPlan, progress: Sequence[CellProgress], data_dir: Path | None, announce: Announce
) -> WorkSeconds:
    """Measure what evaluations of work budgets take, of the domains of which no run has been tested yet.

    Raises as `measure_work_seconds`.
    """
    from dga2d.runtime.runs.estimate import measure_work_seconds

    known = {found.cell.domain for found in progress if found.seconds is not None}
    measured: dict[WorkBudget, float] = {}
    for found in progress:
        settings = plan.effective(found.cell)
        if settings.work is None or found.cell.domain in known:
            continue
        budget = WorkBudget(found.cell.domain, settings.work)
        if budget not in measured:
            announce(f"measuring {settings.work} work units of {budget.domain}")
            seconds = await measure_work_seconds(budget.domain, settings, data_dir)
            assert seconds is not None
            measured[budget] = seconds
    return measured


def estimate(
    plan: StudyPlan, progress: Sequence[CellProgress], jobs: int, work_seconds: WorkSeconds
) -> dict[str, Any]:
    """Return what the runs that are not tested yet may use: ``runs``, ``calls`` (bound), ``tokens`` and
    ``money_usd`` (bounds; ``None`` where a run has none), ``training_evaluations``, ``evaluations``,
    ``hours`` (see `hours_left`).

    Money is counted for arms that ask a paid model alone; calls are counted whoever answers them.
    """
    left = [found for found in progress if found.status not in ("tested", "failed")]
    runs = [estimate_run(plan.effective(found.cell), found.calls) for found in left]
    money, tokens = [run.money_usd for run in runs], [run.tokens for run in runs]
    return {
        "runs": len(left),
        "calls": sum(run.calls for run in runs),
        "tokens": None if None in tokens else sum(token for token in tokens if token is not None),
        "money_usd": None if None in money else sum(one for one in money if one is not None),
        "training_evaluations": sum(run.training_evaluations for run in runs),
        "evaluations": sum(run.evaluations for run in runs),
        "hours": hours_left(plan, progress, jobs, work_seconds),
    }


def hours_left(
    plan: StudyPlan, progress: Sequence[CellProgress], jobs: int, work_seconds: WorkSeconds
) -> float | None:
    """Return hours by the clock: for each run the mean of its domain's tested runs, else of all tested ones,
    else the evaluations of its search (held-out tests come on top), for a budget in work units by
    `work_seconds`; ``None`` where nothing is known.
    """
    times: dict[str, list[float]] = {}
    for found in progress:
        if found.seconds is not None:
            times.setdefault(found.cell.domain, []).append(found.seconds)
    everywhere = [second for known in times.values() for second in known]
    total = 0.0
    for found in progress:
        if found.status in ("tested", "failed"):
            continue
        known = times.get(found.cell.domain, everywhere)
        if known:
            total += fmean(known)
            continue
        settings = plan.effective(found.cell)
        each = work_seconds.get(WorkBudget(found.cell.domain, settings.work or 0))
        hours = estimate_run(settings, work_seconds=each).hours
        if hours is None:
            return None
        total += 3600.0 * hours
    return total / 3600.0 / jobs
