"""What a study may still cost: bounds from its settings, times from its own finished runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from dga2d.replay.settings import RunSettings
from dga2d.runtime.study.cells import CellProgress
from dga2d.runtime.study.plan import StudyPlan


def estimate(plan: StudyPlan, progress: Sequence[CellProgress], jobs: int) -> dict[str, Any]:
    """Return what the runs that are not tested yet may use: ``runs``, ``calls`` (bound), ``tokens`` and
    ``money_usd`` (bounds; ``None`` where a run has none), ``training_evaluations``, ``hours`` (see
    `hours_left`).

    Money is counted for arms that ask a paid model alone; calls are counted whoever answers them.
    """
    left = [found for found in progress if found.status not in ("tested", "failed")]
    settings = [plan.effective(found.cell) for found in left]
    money = [0.0 if _is_free(one) else one.llm_money_usd for one in settings]
    tokens = [0 if _is_free(one) else one.llm_tokens for one in settings]
    return {
        "runs": len(left),
        "calls": sum(one.llm_calls - found.calls for one, found in zip(settings, left, strict=True)),
        "tokens": None if None in tokens else sum(token for token in tokens if token is not None),
        "money_usd": None if None in money else sum(one for one in money if one is not None),
        "training_evaluations": sum(training_evaluations(one) for one in settings),
        "hours": hours_left(plan, progress, jobs),
    }


def _is_free(settings: RunSettings) -> bool:
    """Return whether the run's models cost nothing: the offline proposer, recordings, a local model."""
    names = (settings.llm, *settings.llm_others, *filter(None, [settings.llm_edges]))
    return all(
        name.split(":")[0] in ("offline", "recorded", "local") and ",then=" not in name for name in names
    )


def training_evaluations(settings: RunSettings) -> int:
    """Return the evaluations of the policy's samples: samples × batch × generations, without races, gates and
    validations."""
    return settings.pipelines * settings.batch_size * settings.generations


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
        settings = plan.effective(found.cell)
        if known:
            total += fmean(known)
        elif settings.work is None:
            evaluators = settings.evaluators or os.cpu_count() or 1
            total += training_evaluations(settings) * settings.time_limit / evaluators
        else:
            return None
    return total / 3600.0 / jobs
