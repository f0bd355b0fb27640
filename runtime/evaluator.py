"""The evaluator port of the agents on top of the contained evaluator pool."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from platformdirs import user_cache_path

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.events.payloads import PositionTrace
from dga2d.replay.settings import RunSettings
from dga2d.runtime.evaluation import EvaluationLimits, EvaluationResult, EvaluationTask, EvaluatorPool


class PoolEvaluator:
    """Sends requests to an :class:`EvaluatorPool` under the run's budget."""

    def __init__(self, pool: EvaluatorPool, budget: float, unit: Literal["s", "work"]) -> None:
        self._pool = pool
        self._budget = budget
        self._unit: Literal["s", "work"] = unit

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        is_smoke = request.budget is not None
        budget = request.budget if request.budget is not None else self._budget
        task = EvaluationTask(
            key=request.key,
            instance=request.instance,
            steps=request.steps,
            budget=budget,
            unit="work" if is_smoke else self._unit,
            seed=request.seed,
            expected_s=0.0 if is_smoke else self._budget,
        )
        return _reply(await self._pool.evaluate(task))

    @property
    def posture(self) -> dict[str, str]:
        """Sandbox layers: active, or why not."""
        return self._pool.posture


def _reply(result: EvaluationResult) -> EvaluationReply:
    return EvaluationReply(
        objective=result.objective,
        failure=result.failure,
        diagnostic=result.diagnostic,
        elapsed_s=result.elapsed_s,
        work=result.work,
        trace=tuple(
            PositionTrace(
                score_before=t.score_before,
                score_after=t.score_after,
                elapsed_s=t.elapsed_s,
                work=t.work,
            )
            for t in result.trace
        ),
        solution=result.solution,
    )


def cache_dir() -> Path:
    """Folder of compiled implementations: ``DGA2D_CACHE`` or the user's cache folder."""
    given = os.environ.get("DGA2D_CACHE")
    return Path(given) if given else user_cache_path("dga2d")


@asynccontextmanager
async def open_evaluator(domain: str, settings: RunSettings) -> AsyncIterator[PoolEvaluator]:
    """Start the evaluation processes of a run, and end them with the block."""
    budget, unit = settings.budget
    pool = EvaluatorPool(
        domain,
        workers=settings.evaluators or os.cpu_count() or 1,
        limits=EvaluationLimits(),
        sandbox=settings.sandbox,
        cache_dir=cache_dir(),
    )
    async with pool:
        yield PoolEvaluator(pool, budget, unit)
