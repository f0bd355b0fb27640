"""What an evaluation under a budget of work units takes on this machine, measured before a run begins."""

from __future__ import annotations

from pathlib import Path

from dga2d.agents.ports import EvaluationRequest
from dga2d.replay.settings import RunSettings
from dga2d.replay.streams import spawn_key
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.evaluator import open_evaluator
from dga2d.runtime.runs.problem import Problem


async def measure_work_seconds(
    domain_name: str, settings: RunSettings, data_dir: Path | None
) -> float | None:
    """Return the seconds that the safe baseline, whose units count, takes for the settings' work budget on a
    training instance from the middle of the split; ``None`` where the budget is in seconds.

    Raises
    ------
    DomainError, UsageError
        There is no such domain, or it has no such instances.
    RunStateError
        The baseline failed.
    """
    if settings.work is None:
        return None
    problem = Problem.open(domain_name, data_dir, settings.group, settings.suite)
    train = problem.splits.train
    instance = problem.instance(train[len(train) // 2].key)
    steps = tuple(step.implementation for step in problem.domain.safe_baseline())
    async with open_evaluator(domain_name, settings.model_copy(update={"evaluators": 1})) as evaluator:
        await evaluator.prepare(steps)
        request = EvaluationRequest("estimate", instance, steps, (0, *spawn_key("rate", 0)))
        reply = await evaluator.evaluate(request)
    if reply.failure is not None:
        raise RunStateError(f"the safe baseline failed on {instance.key}: {reply.diagnostic}")
    return reply.elapsed_s
