"""What a study may still cost: bounds from its settings, times from its own finished runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from dga2d.runtime.runs.estimate import estimate_run
from dga2d.runtime.study.cells import CellProgress
from dga2d.runtime.study.plan import StudyPlan
from dga2d.runtime.terminal.output import Announce


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
