"""The evaluator pool of a run, opened with the limits that its settings ask for."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from platformdirs import user_cache_path

from dga2d.replay.settings import RunSettings
from dga2d.runtime.evaluation import EvaluationLimits, EvaluatorPool
from dga2d.runtime.evaluation.limits import MIB


def cache_dir() -> Path:
    """Return the folder of compiled implementations: ``DGA2D_CACHE`` or the user's cache folder."""
    given = os.environ.get("DGA2D_CACHE")
    return Path(given) if given else user_cache_path("dga2d")


def is_cache_usable() -> bool:
    """Return whether compiled implementations can be kept, or their folder made; writes nothing."""
    folder = cache_dir().absolute()
    nearest = next(place for place in (folder, *folder.parents) if os.path.exists(place))
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


def evaluation_limits(settings: RunSettings) -> EvaluationLimits:
    """Return the limits of one evaluation that the settings ask for."""
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
async def open_evaluator(domain: str, settings: RunSettings) -> AsyncIterator[EvaluatorPool]:
    """Start the evaluation workers of a run, and end them with the block."""
    pool = EvaluatorPool(
        domain,
        workers=settings.evaluators or os.cpu_count() or 1,
        limits=evaluation_limits(settings),
        sandbox=settings.sandbox,
        cache_dir=cache_dir(),
        budget=settings.budget,
    )
    async with pool:
        yield pool
