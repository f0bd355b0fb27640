"""What isolation costs: one evaluation of a trivial candidate, beside a bare fork and other ways to isolate.

Run ``python benchmarks/evaluate.py``; everything is measured in the same minutes on the same machine. There
are two floors. The bare one forks a process that has numpy and numba loaded, and reads one byte from it
through a pipe. The other forks a process that is as warm as a worker, does in it all that the evaluation does
(read the text and the instance, decode, answer) and reads the answer, but with no seal, supervision, verifier
or event loop: what is above it is the price of isolation. Floors and pool take turns, since the speed of a
machine changes within minutes; on a busy one the processor time says more than the waiting time.

The uncontained way of other projects (LLM4AD) is a fork of ``multiprocessing`` with a queue per evaluation:
no limits but a deadline, and the parent unpickles what comes back.

``--evolution`` also runs a small real evolution (about two minutes) and sums the processor time of
candidates' processes, of the workers around them, and of everything else.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import psutil

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.domains.core.contract import Implementation
from dga2d.domains.core.registry import get_domain
from dga2d.runtime.evaluation.limits import EvaluationLimits
from dga2d.runtime.evaluation.pool import EvaluatorPool

Figures = dict[str, float]
OURS = "isolated evaluation"
BARE = "bare fork and pipe (floor)"
WARM = "warm fork that evaluates (floor)"
FRESH = "python -c 'import numpy, numba'"
TURNS = 5
TRIVIAL = (
    "    state.sequence = np.arange(len(env_data['distance_matrix']), dtype=np.int32)\n    return state\n"
)
UNCONTAINED = """
import multiprocessing, sys, time
import numpy
if sys.argv[2] == "numba":
    import numba
    numba.njit(lambda x: x + 1)(1)
SOURCE = "import numpy as np\\ndef run(n):\\n    return np.arange(n)\\n"

def work(queue):
    names = {}
    exec(SOURCE, names)
    queue.put(names["run"](10))

context = multiprocessing.get_context("fork")
times = []
for _ in range(int(sys.argv[1])):
    start = time.perf_counter()
    queue = context.Queue()
    process = context.Process(target=work, args=(queue,))
    process.start(); queue.get(timeout=10); process.join()
    times.append(time.perf_counter() - start)
print(*times)
"""
FLOOR = """
import gc, os, statistics, sys, time
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
import numba, numpy
numba.njit(lambda x: x + 1)(1)
gc.collect(); gc.freeze()
times = []
for _ in range(int(sys.argv[1])):
    start = time.perf_counter()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, b"x")
        os._exit(0)
    os.close(writer); os.read(reader, 1); os.close(reader); os.waitpid(child, 0)
    times.append(time.perf_counter() - start)
print(*times)
"""
WARM_FORK = Path(__file__).parent / "warm_fork.py"


def warm_floor(repeats: int, folder: Path) -> list[float]:
    """Milliseconds of the trivial task, done in forks of a process as warm as a worker."""
    from dga2d.runtime.evaluation import wire
    from dga2d.runtime.evaluation.decoders import decoder_address

    domain, (program,) = get_domain("tsp"), trivial_task("floor").steps
    text = {"operator": program.operator, "path": "/dga2d/impl_floor.py", "source": program.source}
    instance = wire.encode(domain.environment(domain.smoke_instance()))
    decoder = decoder_address("tsp", None)
    given = folder / "floor"
    given.write_bytes(wire.encode({"decoder": decoder, "program": wire.encode(text), "instance": instance}))
    return in_a_process([str(WARM_FORK), str(repeats), str(given)])


def timed(action: Callable[[], object], repeats: int) -> list[float]:
    """Milliseconds of each of `repeats` calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(1000 * (time.perf_counter() - start))
    return times


def summary(times: Sequence[float]) -> Figures:
    """Median, 99th percentile and least of `times` in milliseconds."""
    ordered = sorted(times)
    return {
        "median_ms": round(statistics.median(ordered), 2),
        "p99_ms": round(ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))], 2),
        "min_ms": round(ordered[0], 2),
    }


def in_a_script(script: str, repeats: int, *arguments: str) -> list[float]:
    """Milliseconds that a script of this file measured in a process of its own."""
    return in_a_process(["-c", script, str(repeats), *arguments])


def in_a_process(arguments: Sequence[str]) -> list[float]:
    """Milliseconds that Python measured and printed in seconds."""
    out = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    return [1000 * float(word) for word in out.stdout.split()]


def fresh(code: str, repeats: int) -> list[float]:
    """Milliseconds that new interpreters take for `code`."""
    return timed(partial(subprocess.run, [sys.executable, "-c", code], check=True), repeats)


def nothing() -> int:
    """What an executor is given to do."""
    return 0


def executor(repeats: int) -> list[float]:
    """ProcessPoolExecutor: no isolation, no deadline, and it unpickles what the candidate sends."""
    with ProcessPoolExecutor(1) as pool:
        pool.submit(nothing).result()
        return timed(lambda: pool.submit(nothing).result(), repeats)


def trivial_task(key: str, body: str = TRIVIAL) -> EvaluationRequest:
    """An initialiser with that `body` on a small instance."""
    domain = get_domain("tsp")
    step = domain.safe_baseline()[0].implementation
    source = f"import numpy as np\n\n\ndef run(env_data, state, calc_makespan_fn):\n{body}"
    program = Implementation(step.operator, source, "benchmark")
    return EvaluationRequest(key, domain.smoke_instance(), (program,), (1,), 100)


async def pool_overhead(repeats: int, cache: Path, mode: str, pause_s: float = 0.0) -> Figures:
    """One evaluation at a time, with a pause between them."""
    task = trivial_task("trivial")
    times = []
    async with EvaluatorPool("tsp", 1, sandbox=mode, cache_dir=cache) as pool:  # type: ignore[arg-type]
        for _ in range(10):
            result = await pool.evaluate(task)
            assert result.failure is None, result.diagnostic
        await anyio.sleep(1.0)
        before = Processor.now()
        for _ in range(repeats):
            await anyio.sleep(pause_s)
            start = time.perf_counter()
            await pool.evaluate(task)
            times.append(1000 * (time.perf_counter() - start))
        await anyio.sleep(1.0)  # until the child of the last evaluation has been buried
        spent = Processor.now() - before
        memory = idle_memory()
    each = {name: round(1000 * seconds / repeats, 2) for name, seconds in vars(spent).items()}
    return {**summary(times), **{f"{name}_cpu_ms": value for name, value in each.items()}, **memory}


@dataclass(frozen=True)
class Processor:
    """Seconds of processor time so far."""

    parent: float
    """This process."""
    workers: float
    """Launchers and zygotes themselves."""
    candidates: float
    """Their children, those that are gone."""

    @classmethod
    def now(cls) -> Processor:
        """What has been used so far."""
        own = os.times()
        times = [process.cpu_times() for process in workers()]
        return cls(
            own.user + own.system,
            sum(t.user + t.system for t in times),
            sum(t.children_user + t.children_system for t in times),
        )

    def __sub__(self, other: Processor) -> Processor:
        return Processor(
            self.parent - other.parent,
            self.workers - other.workers,
            self.candidates - other.candidates,
        )


def workers() -> list[psutil.Process]:
    """Launchers and zygotes of the pools of this process: its children, and theirs that have some too."""
    direct = psutil.Process().children()
    return direct + [p for child in direct for p in child.children(recursive=True) if p.children()]


def idle_memory() -> Figures:
    """PSS of the one worker: launcher, zygote and the children that wait."""
    pss = sum(p.memory_full_info().pss for p in psutil.Process().children(recursive=True))
    return {"pss_MiB": round(pss / (1 << 20), 1)}


async def throughput(workers: int, evaluations: int, cache: Path) -> float:
    """Evaluations per second with all workers busy."""
    async with EvaluatorPool("tsp", workers, cache_dir=cache) as pool:
        await pool.evaluate(trivial_task("warm"))
        start = time.perf_counter()
        async with anyio.create_task_group() as group:
            for index in range(evaluations):
                group.start_soon(pool.evaluate, trivial_task(f"t{index}"))
        return round(evaluations / (time.perf_counter() - start), 1)


class MeasuredPool(EvaluatorPool):
    """Sums what its candidates used."""

    spent = Processor(0.0, 0.0, 0.0)
    evaluated_s = 0.0

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        reply = await super().evaluate(request)
        MeasuredPool.evaluated_s += reply.cpu_s
        return reply

    async def __aexit__(self, *error: Any) -> None:
        MeasuredPool.spent = Processor.now()
        await super().__aexit__(*error)


def evolution(time_limit_s: float, generations: int) -> Figures:
    """Where the processor time of ``dga2d evolve tsp`` goes."""
    from dga2d.runtime import evaluator
    from dga2d.runtime.cli.app import app

    evaluator.EvaluatorPool = MeasuredPool  # type: ignore[attr-defined]
    before = os.times()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["DGA2D_CACHE"] = f"{folder}/cache"
        flags = [f"--generations={generations}", f"--time-limit={time_limit_s}", "--seed=1", "--quiet"]
        app.main(
            ["evolve", "tsp", "--preset=none", "--validation-instances=2", *flags], standalone_mode=False
        )
    parent = sum(os.times()[:2]) - sum(before[:2])
    spent = MeasuredPool.spent
    total = parent + spent.workers + spent.candidates
    return {
        "candidates_percent": round(100 * spent.candidates / total, 1),
        "of_which_first_compilation_percent": round(
            100 * (spent.candidates - MeasuredPool.evaluated_s) / total, 1
        ),
        "workers_percent": round(100 * spent.workers / total, 1),
        "agents_policy_log_percent": round(100 * parent / total, 1),
        "total_cpu_s": round(total, 1),
    }


def after_attacks(cache: Path) -> Figures:
    """Milliseconds of the next honest evaluation after one that had to be killed or that crashed."""
    bodies = {
        "endless_loop": "    while len(env_data['distance_matrix']) > 0:\n        pass\n    return state\n",
        "memory_bomb": "    x = np.ones(1 << 40)\n    return state\n",
        "segfault": "    import ctypes\n    ctypes.string_at(0)\n    return state\n",
    }

    async def measure_all() -> Figures:
        limits = EvaluationLimits(prepare_run_s=1.0)
        pool = EvaluatorPool("tsp", 1, limits, cache_dir=cache, has_source_rules=False)
        figures = {}
        async with pool:
            for name, body in bodies.items():
                await pool.evaluate(trivial_task("warm"))
                await pool.evaluate(trivial_task(name, body))
                start = time.perf_counter()
                assert (await pool.evaluate(trivial_task("honest"))).failure is None
                figures[name] = round(1000 * (time.perf_counter() - start), 1)
        return figures

    return anyio.run(measure_all)


def measure(repeats: int) -> dict[str, Figures | str]:
    """All figures but those of an evolution, by their names."""
    slow = max(repeats // 20, 5)
    gc.collect()
    isolated, bare, warm = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        for _ in range(TURNS):
            bare += in_a_script(FLOOR, repeats // TURNS)
            isolated.append(anyio.run(pool_overhead, repeats // TURNS, cache, "best-effort"))
            warm += warm_floor(repeats // TURNS, cache)
        paced = anyio.run(pool_overhead, slow, cache, "best-effort", 0.1)
        unsealed = anyio.run(pool_overhead, repeats, cache, "off")
        per_second = {str(n): anyio.run(throughput, n, repeats, cache) for n in (1, 2)}
        honest = after_attacks(cache)
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        OURS: {name: round(statistics.median(turn[name] for turn in isolated), 2) for name in isolated[0]},
        "the same, 0.1 s apart": paced,
        "the same without sandbox": unsealed,
        BARE: summary(bare),
        WARM: summary(warm),
        "uncontained fork, numpy": summary(in_a_script(UNCONTAINED, repeats, "numpy")),
        "uncontained fork, numpy and numba": summary(in_a_script(UNCONTAINED, repeats, "numba")),
        "python -c pass": summary(fresh("pass", slow)),
        FRESH: summary(fresh("import numpy, numba", slow)),
        "ProcessPoolExecutor": summary(executor(repeats)),
        "evaluations per second by workers": per_second,
        "honest evaluation after, ms": honest,
    }


def show(figures: dict[str, Figures | str]) -> None:
    """Print them, and the two ratios that matter."""
    for name, value in figures.items():
        print(f"{name:36s} {value}")
    ours, bare, warm, importing = (_median(figures[name]) for name in (OURS, BARE, WARM, FRESH))
    print(f"{'ratio to the bare fork':36s} {ours / bare:.2f}")
    print(f"{'ratio to the warm fork':36s} {ours / warm:.2f}")
    print(f"{'times cheaper than a fresh import':36s} {importing / ours:.0f}")


def _median(figures: Figures | str) -> float:
    assert isinstance(figures, dict)
    return figures["median_ms"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--evolution", action="store_true", help="measure a small real evolution too")
    parser.add_argument("--time-limit", type=float, default=3.0, help="seconds per instance of the evolution")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    arguments = parser.parse_args()
    figures = measure(arguments.repeats)
    if arguments.evolution:
        figures["processor time of an evolution"] = evolution(arguments.time_limit, 3)
    show(figures)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
