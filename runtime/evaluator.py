"""The evaluator pool of a run, opened with the limits that its settings ask for."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

from dga2d.agents.ports import Evaluator
from dga2d.replay.settings import RunSettings
from dga2d.runtime.cache import cache_dir
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.evaluation import EvaluationLimits, EvaluatorPool
from dga2d.runtime.evaluation.launch import Zygote
from dga2d.runtime.evaluation.limits import MIB
from dga2d.runtime.terminal.run_metrics import Workload


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


class RunEvaluator(Evaluator, Workload, Protocol):
    """What a run needs of its evaluator."""

    @property
    def sandbox_status(self) -> dict[str, str]:
        """What the log says of who evaluates, and how contained."""


class OutsideEvaluator(Protocol):
    """An evaluator of the user's choosing: trusted, and not part of the program."""

    @property
    def name(self) -> str:
        """What the log calls it."""

    def around(self, pool: EvaluatorPool) -> RunEvaluator:
        """Return the evaluator of a run whose own one is `pool`."""


OUTSIDE = "evaluator"
"""Entry of the recorded sandbox status that names an outside evaluator."""


def check_evaluator(run: str, recorded: Mapping[str, str], given: OutsideEvaluator | None) -> None:
    """Refuse to go on with another evaluator than the run began with.

    Raises
    ------
    RunStateError
        The log names an outside evaluator and it is not `given`, or the other way round.
    """
    own = "the program itself"
    before, now = recorded.get(OUTSIDE, own), own if given is None else given.name
    if before != now:
        raise RunStateError(
            f"run {run} was evaluated by {before}, not by {now}; results of two evaluators cannot be "
            "compared. From Python, give the same one: run.resume(evaluator=...)"
        )


@asynccontextmanager
async def open_evaluator(
    domain: str, settings: RunSettings, launched: Zygote | None = None
) -> AsyncIterator[EvaluatorPool]:
    """Start the evaluation workers of a run, and end them with the block; `launched` is the first of them."""
    pool = EvaluatorPool(
        domain,
        workers=settings.evaluators or os.cpu_count() or 1,
        limits=evaluation_limits(settings),
        sandbox=settings.sandbox,
        cache_dir=cache_dir(),
        budget=settings.budget,
        launched=launched,
    )
    async with pool:
        yield pool
