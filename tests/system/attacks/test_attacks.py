"""Every attack is contained by the sandbox alone, and most are refused before by the static rules.

Each program runs twice. First it strikes at once, in the preparation, where it may write its own cache.
Then it behaves on the smoke instance and strikes later, in an evaluation.
"""

from __future__ import annotations

import json
from typing import Any

import anyio
import numpy as np
import psutil
import pytest

from dga2d.agents.ports import EvaluationReply
from dga2d.domains.core.contract import Implementation, OperatorName, State
from dga2d.domains.source_rules import check_source
from dga2d.runtime.evaluation.pool import EvaluatorPool

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif("sys.platform != 'linux'", reason="the sandbox needs Linux"),
]
SMOKE_POINTS = 8
IDLE_PROCESSES = 4
"""Launcher, zygote and the two children that wait for tasks."""


def n_processes() -> int:
    return len(psutil.Process().children(recursive=True))


async def assert_idle(expected: int) -> None:
    """Nothing runs soon but an idle pool: a child that has answered takes a moment to be gone."""
    with anyio.fail_after(10):
        while n_processes() != expected:
            await anyio.sleep(0.005)


async def assert_contained(attack: Any, source: str, pool: EvaluatorPool, host: Any) -> None:
    await assert_honest_task_succeeds(pool, host)
    before = host.snapshot()
    await assert_idle(IDLE_PROCESSES)
    program = Implementation(OperatorName("order"), host.aim(source), "attack")
    with anyio.fail_after(50):
        result = await pool.evaluate(host.task(program))
    allowed = {*attack.outcomes, "timeout"}  # on a busy machine one that ends by itself may be late too
    assert (result.failure or "none") in allowed, result
    assert_honest_result(result, host)
    assert host.snapshot() == before
    await assert_idle(IDLE_PROCESSES)
    await assert_honest_task_succeeds(pool, host)


def assert_honest_result(result: EvaluationReply, host: Any) -> None:
    """The objective is that of the solution, whatever the program did, and the result holds no secret."""
    assert "sk-secret" not in repr(result)
    assert str(host.folder) not in repr(result)
    assert len(result.diagnostic) <= 1500
    assert "\x1b" not in result.diagnostic
    assert str(host.folder) not in result.diagnostic
    if result.failure is None:
        assert result.solution is not None
        sequence = json.loads(result.solution)["sequence"]
        verdict = host.domain.verify(host.instance(), State(np.array(sequence, np.int32)))
        assert verdict.is_feasible
        assert result.objective == verdict.objective
    else:
        assert result.objective is None
        assert result.solution is None


async def assert_honest_task_succeeds(pool: EvaluatorPool, host: Any) -> None:
    with anyio.fail_after(20):
        result = await pool.evaluate(host.task(host.competitor))
    assert result.failure is None
    assert json.loads(result.solution or b"")["sequence"] == list(range(20))


async def test_an_attack_at_first_sight_is_contained(attack: Any, pool: EvaluatorPool, host: Any) -> None:
    await assert_contained(attack, attack.source(harmless_up_to=-1), pool, host)


async def test_an_attack_after_the_smoke_test_is_contained(
    attack: Any, pool: EvaluatorPool, host: Any
) -> None:
    await assert_contained(attack, attack.source(harmless_up_to=SMOKE_POINTS), pool, host)


async def test_the_static_rules_refuse_what_they_must(attack: Any) -> None:
    found = check_source(attack.source(harmless_up_to=-1))
    assert bool(found) is attack.is_refused, found
