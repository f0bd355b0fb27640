"""The pool outlives its workers, and nothing outlives the pool."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from dga2d.agents.ports import EvaluationReply
from dga2d.runtime.evaluation import worker_pool as worker_pool_module
from dga2d.runtime.evaluation.limits import EvaluationLimits
from dga2d.runtime.evaluation.pool import EvaluatorPool

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif("sys.platform != 'linux'", reason="reads Linux's process table"),
]
DOMAIN_FILE = Path(__file__).with_name("line_domain.py")
ENDLESS = (
    "def run(env_data, state, calc_makespan_fn):\n"
    "    while env_data['n'] > 8:\n        pass\n    return state\n"
)
ORCHESTRATOR = """
import sys
from pathlib import Path
import anyio
from dga2d.domains.core.contract import Implementation, InstanceRef
from dga2d.agents.ports import EvaluationRequest
from dga2d.runtime.evaluation.pool import EvaluatorPool
from dga2d.runtime.evaluation.decoders import load_domain_file

async def main(domain_file, cache, mode):
    domain = load_domain_file(domain_file)
    order = domain.safe_baseline()[0].implementation
    loop = Implementation("swap", ENDLESS, "test")
    instance = domain.load(InstanceRef("line", "line", "line30-1", None))
    async with EvaluatorPool("line", 1, None, mode, cache, domain_file=domain_file) as pool:
        await pool.evaluate(EvaluationRequest("honest", instance, (order,), (1,), 1.0))
        print("ready", flush=True)
        await pool.evaluate(EvaluationRequest("endless", instance, (order, loop), (1,), 600.0, "s"))

anyio.run(main, Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
"""


def below(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


async def until(what: Callable[[], bool]) -> None:
    with anyio.fail_after(50):
        while not what():
            await anyio.sleep(0.02)


def workers(pid: int) -> set[int]:
    """Processes of an idle pool that have done something: launchers and zygotes, not the waiting children."""
    return {p.pid for p in below(pid) if has_worked(p) or below(p.pid)}


def candidates(pid: int, workers: set[int]) -> list[psutil.Process]:
    """Candidates that have used the processor for a while."""
    return [p for p in below(pid) if p.pid not in workers and is_alive(p) and has_worked(p)]


def has_worked(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return bool(process.cpu_times().user > 0.3)
    return False


def is_alive(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


@pytest.mark.parametrize(
    ("number", "mode"),
    [
        (signal.SIGKILL, "best-effort"),
        pytest.param(signal.SIGTERM, "off", marks=pytest.mark.slow),
        pytest.param(signal.SIGKILL, "off", marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, "best-effort", marks=pytest.mark.slow),
    ],
)
async def test_the_death_of_the_orchestrator_ends_everything_it_started(
    number: signal.Signals, mode: str, cache_dir: Path
) -> None:
    script = ORCHESTRATOR.replace("ENDLESS", repr(ENDLESS))
    orchestrator = subprocess.Popen(
        [sys.executable, "-P", "-c", script, DOMAIN_FILE, cache_dir, mode], stdout=subprocess.PIPE
    )
    try:
        with orchestrator:
            assert orchestrator.stdout is not None
            assert orchestrator.stdout.readline() == b"ready\n"
            idle = workers(orchestrator.pid)
            await until(lambda: bool(candidates(orchestrator.pid, idle)))
            started = below(orchestrator.pid)
            orchestrator.send_signal(number)
            await until(lambda: orchestrator.poll() is not None)
            await until(lambda: not any(map(is_alive, started)))
    finally:
        orchestrator.kill()


@pytest.mark.parametrize("mode", ["best-effort", pytest.param("off", marks=pytest.mark.slow)])
async def test_a_killed_zygote_takes_its_candidate_along(mode: Any, line: Any, cache_dir: Path) -> None:
    limits = EvaluationLimits(memory_bytes=1 << 28)
    endless = line.task(line.order, line.program(ENDLESS), budget=600.0, unit="s")
    async with (
        EvaluatorPool("line", 1, limits, mode, cache_dir, domain_file=DOMAIN_FILE) as pool,
        anyio.create_task_group() as group,
    ):
        assert (await pool.evaluate(line.task())).failure is None
        idle = workers(os.getpid())
        group.start_soon(pool.evaluate, endless)
        await until(lambda: bool(candidates(os.getpid(), idle)))
        running = candidates(os.getpid(), idle)
        for process in running:
            with suppress(psutil.NoSuchProcess):  # both may be gone with the zygote of another
                if process.ppid() in idle:
                    psutil.Process(process.ppid()).kill()
        await until(lambda: not any(map(is_alive, running)))
        group.cancel_scope.cancel()


@pytest.mark.slow
async def test_a_worker_that_hangs_is_replaced_and_its_task_run_again(
    line: Any, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool_module, "_HANG_LIMIT_S", 0.5)
    limits = EvaluationLimits(load_s=1.0, wall_grace_s=1.0, memory_bytes=1 << 28)
    results: list[EvaluationReply] = []

    async def evaluate(pool: EvaluatorPool) -> None:
        results.append(await pool.evaluate(line.task(budget=0.5, unit="s")))

    async with EvaluatorPool("line", 1, limits, cache_dir=cache_dir, domain_file=DOMAIN_FILE) as pool:
        assert (await pool.evaluate(line.task())).failure is None  # all is compiled
        before = workers(os.getpid())
        async with anyio.create_task_group() as group:
            group.start_soon(evaluate, pool)
            await anyio.sleep(0.3)
            for process in below(os.getpid()):
                process.suspend()
        after = workers(os.getpid())
    assert results[0].failure is None
    assert not before & after


@pytest.mark.slow
async def test_the_limit_of_processor_time_is_a_timeout(line: Any, cache_dir: Path) -> None:
    limits = EvaluationLimits(cpu_s=1.0, memory_bytes=1 << 28)
    async with EvaluatorPool("line", 1, limits, cache_dir=cache_dir, domain_file=DOMAIN_FILE) as pool:
        endless = line.task(line.order, line.program(ENDLESS), budget=600.0, unit="s")
        result = await pool.evaluate(endless)
        honest = await pool.evaluate(line.task())
    assert result.failure == "timeout"
    assert "processor time" in result.diagnostic
    assert result.cpu_s > 0.0
    assert honest.failure is None
    assert honest.cpu_s > 0.0


@pytest.mark.slow
async def test_the_first_compilations_of_a_task_run_side_by_side(line: Any, cache_dir: Path) -> None:
    slow = (
        "def run(env_data, state, calc_makespan_fn):\n    while env_data['n'] == 8:\n        pass\n"
        "    return state\n"
    )
    steps = [line.program(f"{slow}# {number}\n") for number in range(2)]
    limits = EvaluationLimits(prepare_run_s=20.0, memory_bytes=1 << 28)
    async with (
        EvaluatorPool("line", 2, limits, cache_dir=cache_dir, domain_file=DOMAIN_FILE) as pool,
        anyio.create_task_group() as group,
    ):
        async with anyio.create_task_group() as both:
            for seed in range(2):
                both.start_soon(pool.evaluate, line.task(budget=1.0, unit="s", seed=(seed,)))
        idle = workers(os.getpid())
        group.start_soon(pool.evaluate, line.task(line.order, *steps))
        await until(lambda: len(candidates(os.getpid(), idle)) == 2)
        group.cancel_scope.cancel()
