"""The evaluator pool of a run, opened with the limits that its settings ask for."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

from dga2d.agents.ports import Evaluator
from dga2d.replay.settings import RunSettings
from dga2d.runtime.cluster.connection import cluster_address
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.evaluation.launch import Zygote
from dga2d.runtime.evaluation.limits import MIB, EvaluationLimits
from dga2d.runtime.evaluation.pool import EvaluatorPool
from dga2d.runtime.terminal.run_metrics import Workload
from dga2d.runtime.user_files import cache_dir


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

    def around(self, pool: RunEvaluator) -> RunEvaluator:
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


def local_workers(settings: RunSettings) -> int:
    """Return how many workers evaluate where that happens on this machine."""
    return settings.evaluators if isinstance(settings.evaluators, int) else os.cpu_count() or 1


@asynccontextmanager
async def open_run_evaluator(domain: str, settings: RunSettings) -> AsyncIterator[RunEvaluator]:
    """Start the evaluation workers of a run where its settings want them: here, or on a Ray cluster.

    Raises
    ------
    UsageError
        A cluster is wanted and cannot be used.
    """
    address = cluster_address(settings.evaluators)
    if address is None:
        async with open_evaluator(domain, settings) as pool:
            yield pool
        return
    from dga2d.runtime.cluster.node import NodeOrder
    from dga2d.runtime.cluster.pool import open_cluster_pool

    order = NodeOrder.of(domain, evaluation_limits(settings), settings.sandbox, settings.budget)
    async with open_cluster_pool(address, order) as cluster_pool:
        yield cluster_pool


@asynccontextmanager
async def open_evaluator(
    domain: str, settings: RunSettings, launched: Zygote | None = None
) -> AsyncIterator[EvaluatorPool]:
    """Start evaluation workers on this machine, and end them with the block; `launched` is the first of
    them.
    """
    pool = EvaluatorPool(
        domain,
        workers=local_workers(settings),
        limits=evaluation_limits(settings),
        sandbox=settings.sandbox,
        cache_dir=cache_dir(),
        budget=settings.budget,
        launched=launched,
    )
    async with pool:
        yield pool
