"""What a study may still cost: bounds from its settings, times from its own finished runs."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from dga2d.runtime.runs.estimate import estimate_run
from dga2d.runtime.study.cells import CellProgress
from dga2d.runtime.study.plan import StudyPlan


def estimate(plan: StudyPlan, progress: Sequence[CellProgress], jobs: int) -> dict[str, Any]:
    """Return what the runs that are not tested yet may use: ``runs``, ``calls`` (bound), ``tokens`` and
    ``money_usd`` (bounds; ``None`` where a run has none), ``training_evaluations``, ``hours`` (see
    `hours_left`).

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
        "hours": hours_left(plan, progress, jobs),
    }


def hours_left(plan: StudyPlan, progress: Sequence[CellProgress], jobs: int) -> float | None:
    """Return hours by the clock: for each run the mean of its domain's tested runs, else of all tested ones,
    else, where budgets are in seconds, of training evaluations alone; ``None`` where nothing is known.
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
        hours = estimate_run(plan.effective(found.cell)).hours
        if hours is None:
            return None
        total += 3600.0 * hours
    return total / 3600.0 / jobs
