"""Every implementation of every library as a run evaluates it: sealed off, and compiled there."""

from __future__ import annotations

import pytest

from dga2d.agents.ports import EvaluationRequest
from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.replay.settings import RunSettings
from dga2d.runtime.evaluator import open_evaluator

pytestmark = pytest.mark.long


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", domain_names())
async def test_every_implementation_runs_in_the_sandbox(name: str) -> None:
    domain = get_domain(name)
    start, instance = domain.safe_baseline()[0].implementation, domain.smoke_instance()
    failures: list[str] = []
    async with open_evaluator(name, RunSettings(time_limit=0.5, evaluators=1)) as evaluator:
        for operator in domain.operators():
            for implementation in operator.implementations:
                steps = (implementation,) if operator.requires == "none" else (start, implementation)
                request = EvaluationRequest(implementation.id, instance, steps, (1, 8, 0, 0, 0))
                reply = await evaluator.evaluate(request)
                if reply.failure is not None:
                    failures.append(f"{implementation.id}: {reply.failure}: {reply.diagnostic}")
    assert failures == []
