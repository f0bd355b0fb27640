"""Oracles: what a candidate asked is counted outside its process, and nothing it does makes that less."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.domains.core.contract import Domain, Implementation, InstanceRef, OperatorName
from dga2d.runtime.evaluation.decoders import load_domain_file
from dga2d.runtime.evaluation.limits import EvaluationLimits
from dga2d.runtime.evaluation.pool import EvaluatorPool

DOMAIN_FILE = Path(__file__).with_name("hidden_domain.py")
LIMITS = EvaluationLimits(work_wall_s=5.0, load_s=1.0, prepare_run_s=5.0, memory_bytes=1 << 28)
RUN = "def run(env_data, state, calc_makespan_fn):\n"


class Hidden:
    """A pool on the domain, without rules for texts: attacks must fail by what the process does."""

    def __init__(self, pool: EvaluatorPool, domain: Domain) -> None:
        self._pool = pool
        self._domain = domain
        self.start, self.step = (step.implementation for step in domain.safe_baseline())

    async def evaluate(self, *texts: str | Implementation, root: float = 5.0) -> EvaluationReply:
        steps = tuple(
            Implementation(OperatorName("step"), t, "test") if isinstance(t, str) else t for t in texts
        )
        instance = self._domain.load(InstanceRef("hidden", "hidden", str(root), None))
        return await self._pool.evaluate(EvaluationRequest("task", instance, steps, (7, 1), budget=500))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hidden(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Hidden]:
    cache = tmp_path_factory.mktemp("oracles")
    async with EvaluatorPool(
        "hidden", 1, LIMITS, cache_dir=cache, domain_file=DOMAIN_FILE, has_source_rules=False
    ) as pool:
        yield Hidden(pool, load_domain_file(DOMAIN_FILE))


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_walk_repeats_until_the_answer_is_there_and_every_question_counts(hidden: Hidden) -> None:
    reply = await hidden.evaluate(hidden.start, hidden.step)
    assert (reply.failure, reply.objective, reply.work) == (None, -6.0, 6)
    assert [position.work for position in reply.trace] == [1, 5]
    assert reply.solution is not None
    assert json.loads(reply.solution)["metadata"]["measured_asked"] == 6


async def test_the_budget_ends_a_walk_that_repeats(hidden: Hidden) -> None:
    reply = await hidden.evaluate(hidden.start, hidden.step, root=600.0)
    assert reply.failure == "infeasible"
    assert "not 0" in reply.diagnostic


async def test_the_decoders_value_costs_nothing_in_a_walk_that_repeats(hidden: Hidden) -> None:
    looks = "def run(env_data, state, calc):\n    [calc(state) for _ in range(600)]\n    return state\n"
    reply = await hidden.evaluate(hidden.start, looks, hidden.step)
    assert (reply.failure, reply.objective, reply.work) == (None, -6.0, 6)


ATTACKS = {
    "forges the record": 'state.metadata["measured_asked"] = 0; return state',
    "forges it by another type": 'state.metadata["measured_asked"] = -1.5; return state',
    "asks on the side": (
        "import os, struct\n    os.write(5, struct.pack('<IId', 1, 1, 0.0)); os.read(5, 16)\n    return state"
    ),
    "asks for many at once": 'env_data["line"](env_data["rng"].random(100)); return state',
    "writes nonsense to the oracle": "import os\n    os.write(5, bytes([255]) * 64)\n    return state",
    "closes the oracle's socket": "import os\n    os.close(5)\n    return state",
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_no_candidate_makes_its_count_less(hidden: Hidden, attack: str) -> None:
    find = 'state.metadata["x"] = state.metadata["x"] - env_data["line"](state.metadata["x"])\n    '
    find += 'state.metadata["y"] = state.metadata["x"] * 0.0\n    '
    reply = await hidden.evaluate(hidden.start, f"{RUN}    {find}{ATTACKS[attack]}\n")
    if reply.failure is None:
        assert reply.objective is not None
        assert reply.objective <= -2.0
    else:
        assert reply.objective is None


async def test_what_the_candidate_process_holds_is_not_the_instance(hidden: Hidden) -> None:
    snoop = (
        "    import gc\n"
        "    found = [o for o in gc.get_objects() if isinstance(o, dict) and 'root' in o]\n"
        '    state.metadata["x"] = state.metadata["x"] + (found[0]["root"] if found else 0.5)\n'
        '    state.metadata["y"] = state.metadata["x"] * 0.0\n    return state\n'
    )
    reply = await hidden.evaluate(hidden.start, RUN + snoop, root=7.0)
    assert reply.failure == "infeasible"


@pytest.mark.slow
async def test_nothing_answers_while_a_text_is_imported(hidden: Hidden) -> None:
    asking = "import os, struct\nos.write(5, struct.pack('<IId', 1, 1, 0.0))\nos.read(5, 16)\n"
    reply = await hidden.evaluate(hidden.start, f"{asking}\n\n{RUN}    return state\n")
    assert reply.failure in ("timeout", "compile_error")


async def test_nothing_is_kept_from_one_instance_to_the_next(hidden: Hidden) -> None:
    keeping = (
        "KEPT = {}\n\n\n"
        + RUN
        + '    if not KEPT:\n        KEPT["y"] = env_data["line"](state.metadata["x"])\n'
        '    state.metadata["x"] = state.metadata["x"] - KEPT["y"]\n'
        '    state.metadata["y"] = state.metadata["x"] * 0.0\n    return state\n'
    )
    first, other = [await hidden.evaluate(hidden.start, keeping, root=root) for root in (3.0, 4.0)]
    assert (first.objective, other.objective) == (-2.0, -2.0)


REFUSED = {
    "questions of another shape": (
        'env_data["line"].__closure__[0].cell_contents([[1.0, 2.0]])',
        "one number",
    ),
    "too many": ('env_data["line"]([0.0] * 2000)', "more than 1000 questions"),
}


@pytest.mark.parametrize("what", REFUSED)
async def test_what_the_oracle_refuses_is_an_error_with_its_reason(hidden: Hidden, what: str) -> None:
    call, reason = REFUSED[what]
    reply = await hidden.evaluate(hidden.start, f"{RUN}    {call}\n    return state\n")
    assert reply.failure == "runtime_error"
    assert reason in reply.diagnostic


async def test_an_oracle_that_fails_is_a_failure_and_the_pool_goes_on(hidden: Hidden) -> None:
    broken: Any = await hidden.evaluate(hidden.start, hidden.step, root=13.0)
    assert broken.failure == "runtime_error"
    assert "the oracle is gone" in broken.diagnostic
    assert (await hidden.evaluate(hidden.start, hidden.step)).objective == -6.0
