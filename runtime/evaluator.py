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
from dga2d.runtime.evaluation.limits import MIB


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

    @property
    def workers(self) -> int:
        """Evaluation processes."""
        return self._pool.workers

    @property
    def busy(self) -> int:
        """How many of them evaluate at this moment."""
        return self._pool.busy


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


def evaluation_limits(settings: RunSettings) -> EvaluationLimits:
    """The limits of one evaluation that the settings ask for."""
    return EvaluationLimits(
        wall_grace_s=settings.grace_limit,
        work_wall_s=settings.work_time_limit,
        cpu_s=settings.cpu_limit,
        load_s=settings.import_limit,
        prepare_s=settings.compile_limit,
        memory_bytes=settings.memory_limit * MIB,
        open_files=settings.open_file_limit,
        file_bytes=settings.file_size_limit * MIB,
        answer_bytes=settings.answer_limit * MIB,
        processes=settings.process_limit,
    )


@asynccontextmanager
async def open_evaluator(domain: str, settings: RunSettings) -> AsyncIterator[PoolEvaluator]:
    """Start the evaluation processes of a run, and end them with the block."""
    budget, unit = settings.budget
    pool = EvaluatorPool(
        domain,
        workers=settings.evaluators or os.cpu_count() or 1,
        limits=evaluation_limits(settings),
        sandbox=settings.sandbox,
        cache_dir=cache_dir(),
    )
    async with pool:
        yield PoolEvaluator(pool, budget, unit)
