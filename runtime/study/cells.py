"""How far the runs of a study are, and what is left to do. Nothing here writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dga2d.events import EventError
from dga2d.replay.errors import ReplayError
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.inspection.measures import picked
from dga2d.runtime.runs.states import load_state
from dga2d.runtime.study.plan import Cell, StudyPlan
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
            **picked(self, "status", "is_running", "calls", "tokens", "cost_usd", "seconds"),
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
