"""What a candidate could gain under a time budget: free time, and memory of an earlier evaluation."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from dga2d.agents.ports import EvaluationReply
from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.runtime.evaluation.limits import EvaluationLimits
from dga2d.runtime.evaluation.pool import EvaluatorPool

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif("sys.platform != 'linux'", reason="the sandbox needs Linux"),
]
HERE = Path(__file__).parent
DOMAIN_FILE = HERE.parents[1] / "runtime" / "evaluation" / "line_domain.py"

FREEZES_ITS_SOLUTION = """
import numba
import numpy as np

KEPT = np.zeros(64, np.int32)


@numba.njit
def kept():
    return KEPT.copy()


def run(env_data, state, calc_makespan_fn):
    n = env_data["n"]
    if n <= 8:  # the preparation compiles nothing
        state.sequence = np.arange(n, dtype=np.int32)
        return state
    KEPT[:n] = np.arange(n)[::-1] + 1  # numba freezes global arrays where it compiles
    state.metadata["was_frozen"] = np.int64(0)
    frozen = kept()
    KEPT[:n] = 0
    state.sequence = (frozen[:n] - 1).astype(np.int32)
    return state
"""
TELLS_WHAT_WAS_FROZEN = FREEZES_ITS_SOLUTION.replace(
    "    KEPT[:n] = np.arange(n)[::-1] + 1  # numba freezes global arrays where it compiles\n",
    "    if env_data['rng'].random() < 0.5:\n        KEPT[:n] = np.arange(n)[::-1] + 1\n",
)
SEARCHES_WHILE_IT_IS_IMPORTED = """
import numpy as np

total = 0.0
for i in range(1_000_000):
    total += i % 7


def run(env_data, state, calc_makespan_fn):
    state.sequence = np.arange(env_data["n"], dtype=np.int32)
    while not env_data["budget"].exhausted():
        calc_makespan_fn(state)
    return state
"""
FORGES_ITS_CLOCK = """
import os

import numpy as np


def run(env_data, state, calc_makespan_fn):
    os.write(3, b"CRS")
    state.sequence = np.arange(env_data["n"], dtype=np.int32)
    while env_data["n"] > 8:
        pass
    return state
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cache(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Path]:
    yield tmp_path_factory.mktemp("cache")


def program(source: str) -> Implementation:
    return Implementation(OperatorName("order"), source, "attack")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


async def evaluate(
    host: Any, cache: Path, source: str, *seeds: int, prepare_run_s: float = 10.0, **fields: Any
) -> list[EvaluationReply]:
    """Evaluate `source` once per seed in a pool of its own, under a budget of seconds."""
    limits = EvaluationLimits(wall_grace_s=0.5, prepare_run_s=prepare_run_s)
    pool = EvaluatorPool("line", 1, limits, "strict", cache, domain_file=DOMAIN_FILE, has_source_rules=False)
    request = replace(host.task(program(source)), **{"budget": 20.0, "unit": "s", **fields})
    async with pool:
        return [await pool.evaluate(replace(request, seed=(seed,))) for seed in seeds]


@pytest.mark.slow
async def test_a_solution_frozen_into_machine_code_is_gone_in_the_next_evaluation(
    host: Any, cache: Path
) -> None:
    seeds = range(8)
    replies = await evaluate(host, cache, TELLS_WHAT_WAS_FROZEN, *seeds)
    before = files(cache)
    replies += await evaluate(host, cache, TELLS_WHAT_WAS_FROZEN, *seeds)
    outcomes = [reply.failure for reply in replies]
    assert set(outcomes) == {None, "infeasible"}  # half of the runs had nothing to freeze, and found nothing
    assert outcomes[:8] == outcomes[8:]
    solutions = [json.loads(reply.solution)["sequence"] for reply in replies if reply.solution is not None]
    assert solutions == [list(range(20))[::-1]] * len(solutions)
    assert files(cache) == before


async def test_an_evaluation_writes_nothing_even_if_it_says_that_it_compiles(host: Any, cache: Path) -> None:
    source = (HERE / "programs" / "asks_for_compilation.py").read_text(encoding="utf-8")
    behaves = "\n\ndef run(env_data, state, calc_makespan_fn):\n" + (
        "    import numpy as np\n\n    state.sequence = np.arange(env_data['n'], dtype=np.int32)\n"
        "    return state if env_data['n'] <= 8 else attack(env_data, state, calc_makespan_fn)\n"
    )
    asks = host.aim(source) + behaves
    pool = EvaluatorPool("line", 1, None, "strict", cache, domain_file=DOMAIN_FILE, has_source_rules=False)
    async with pool:
        await pool.evaluate(replace(host.task(program(asks)), seed=(1,)))
        before = files(cache)
        reply = await pool.evaluate(replace(host.task(program(asks)), seed=(2,)))
    assert reply.failure == "forbidden", reply
    assert files(cache) == before


HONEST = """
import numba
import numpy as np


@numba.njit
def order(n):
    return np.arange(n).astype(np.int32)


def run(env_data, state, calc_makespan_fn):
    state.sequence = order(env_data["n"])
    return state
"""


async def test_a_hostile_position_reaches_nothing_that_is_kept_of_others(host: Any, tmp_path: Path) -> None:
    text = host.aim((HERE / "programs" / "forges_machine_code.py").read_text(encoding="utf-8"))
    hostile = Implementation(
        OperatorName("swap"),
        text + "\n\ndef run(env_data, state, calc_makespan_fn):\n    return attack(env_data, state, None)\n",
        "attack",
    )
    honest = program(HONEST)
    request = replace(host.task(honest), budget=20.0, unit="s")
    pool = EvaluatorPool("line", 1, None, "strict", tmp_path, domain_file=DOMAIN_FILE, has_source_rules=False)
    async with pool:
        alone = await pool.evaluate(request)
        before = {path: data for path, data in files(tmp_path).items() if honest.digest in path}
        await pool.evaluate(replace(request, steps=(honest, hostile)))
        again = await pool.evaluate(request)
    assert len(before) == 1
    assert {path: data for path, data in files(tmp_path).items() if honest.digest in path} == before
    assert (again.failure, again.solution, again.has_compiled) == (None, alone.solution, False)
    assert not (host.folder / "poisoned").exists()


async def test_time_spent_at_import_is_not_the_evaluations_and_buys_nothing(host: Any, cache: Path) -> None:
    (reply,) = await evaluate(host, cache, SEARCHES_WHILE_IT_IS_IMPORTED, 1, budget=0.2)
    assert reply.failure is None
    assert reply.elapsed_s >= 0.2
    assert reply.cpu_s <= reply.elapsed_s + 0.02  # ticks; the import is in neither


@pytest.mark.slow
async def test_forged_marks_neither_stop_nor_restart_the_clock(host: Any, cache: Path) -> None:
    (reply,) = await evaluate(host, cache, FORGES_ITS_CLOCK, 1, prepare_run_s=2.0, budget=0.2)
    assert reply.failure == "timeout"
    assert "while it ran" in reply.diagnostic
    assert reply.elapsed_s >= 0.7
