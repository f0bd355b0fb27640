"""Ten thousand evaluations with random faults: no task is lost and nothing grows."""

from __future__ import annotations

import gc
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.runtime.evaluation.limits import EvaluationLimits
from dga2d.runtime.evaluation.pool import EvaluatorPool

pytestmark = [pytest.mark.long, pytest.mark.asyncio, pytest.mark.timeout(1200)]
DOMAIN_FILE = Path(__file__).with_name("line_domain.py")
N_EVALUATIONS = 10_000
CALLERS = 6
RESULTS_BETWEEN_KILLS = 400
MORE_BYTES = 24 << 20
"""How far the memory of the test's own process may grow after its first thousand evaluations."""
LIMITS = EvaluationLimits(wall_grace_s=0.2, work_wall_s=20.0, memory_bytes=1 << 28, answer_bytes=1 << 16)
HARMLESS = "    if env_data['n'] == 8:\n        return state\n"
HEAD = f"import os\nimport numpy as np\n\n\ndef run(env_data, state, calc_makespan_fn):\n{HARMLESS}"
FAULTS = {
    "runtime_error": "    return 1 / 0\n",
    "crashed": "    os._exit(3)\n",
    "out_of_memory": "    np.ones(1 << 40)\n    return state\n",
    "infeasible": "    return None\n",
    "oversized_answer": (
        "    state.sequence = np.argsort(env_data['points'])\n"
        "    state.metadata['x'] = np.zeros(1 << 14)\n    return state\n"
    ),
    "forbidden": "    open('/etc/passwd')\n    return state\n",
    "timeout": "    while True:\n        pass\n",
}


def plan(line: Any) -> Iterator[tuple[str, EvaluationRequest]]:
    """Expected failure (``none``) and task of every evaluation: one in ten goes wrong, one in 500 hangs."""
    rng = random.Random(5)
    programs = {kind: line.program(HEAD + body) for kind, body in FAULTS.items()}
    short = [kind for kind in FAULTS if kind != "timeout"]
    for number in range(N_EVALUATIONS):
        kind = "timeout" if number % 500 == 250 else rng.choice(short) if number % 10 == 5 else "none"
        steps = (line.order, line.swap if kind == "none" else programs[kind])
        budget = {"budget": 0.1, "unit": "s"} if kind == "timeout" else {"budget": 5, "unit": "work"}
        yield kind, line.task(*steps, key=str(number), seed=(1, number), **budget)


def is_as_planned(kind: str, result: EvaluationReply, points: Any) -> bool:
    if result.failure is not None:
        return result.failure == kind
    sequence = json.loads(result.solution or b"")["sequence"]
    length = sum(abs(float(points[a]) - float(points[b])) for a, b in pairwise(sequence))
    return kind == "none" and result.objective == pytest.approx(length)


def kill_one(rng: random.Random) -> None:
    """Kill a launcher, a zygote or a child."""
    victims = psutil.Process().children(recursive=True)
    if victims:
        with suppress(psutil.NoSuchProcess):
            rng.choice(victims).kill()


async def test_ten_thousand_evaluations_lose_no_task_and_leak_nothing(line: Any, cache_dir: Path) -> None:
    me = psutil.Process()
    results: dict[str, EvaluationReply] = {}
    wrong: list[tuple[str, EvaluationReply]] = []
    rng = random.Random(6)
    sizes: list[tuple[int, int]] = []
    points = line.instance().data["points"]
    tasks = plan(line)
    descriptors = set(os.listdir("/proc/self/fd"))

    async def call(pool: EvaluatorPool) -> None:
        for kind, task in tasks:
            result = await pool.evaluate(task)
            assert task.key not in results
            results[task.key] = result
            if not is_as_planned(kind, result, points):
                wrong.append((kind, result))
            if len(results) % RESULTS_BETWEEN_KILLS == 0:
                kill_one(rng)
            if len(results) % 1000 == 0:
                gc.collect()
                sizes.append((me.memory_info().rss, me.num_fds()))

    pool = EvaluatorPool(
        "line", 2, LIMITS, cache_dir=cache_dir, domain_file=DOMAIN_FILE, has_source_rules=False
    )
    async with pool, anyio.create_task_group() as callers:
        for _ in range(CALLERS):
            callers.start_soon(call, pool)

    assert sorted(results, key=int) == [str(number) for number in range(N_EVALUATIONS)]
    unplanned = Counter(result.failure for _, result in wrong)
    assert set(unplanned) <= {"crashed"}, wrong[:3]
    assert len(wrong) <= N_EVALUATIONS // RESULTS_BETWEEN_KILLS  # children that were shot
    assert max(rss for rss, _ in sizes) - sizes[0][0] < MORE_BYTES, sizes
    assert max(fds for _, fds in sizes) - min(fds for _, fds in sizes) <= 8, sizes  # workers being replaced
    assert not psutil.Process().children(recursive=True)
    assert set(os.listdir("/proc/self/fd")) <= descriptors
