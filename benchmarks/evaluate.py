"""What isolation costs: one evaluation of a trivial candidate, beside a bare fork and other ways to isolate.

Run ``python benchmarks/evaluate.py``; everything is measured in the same minute on the same machine. The floor
forks a process that has numpy and numba loaded, and reads one byte from it through a pipe.
"""

from __future__ import annotations

import argparse
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
from functools import partial
from pathlib import Path

import anyio
import psutil

from dga2d.domains.registry import get_domain
from dga2d.runtime.evaluation import EvaluationTask, EvaluatorPool

Figures = dict[str, float]
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


def timed(action: Callable[[], object], repeats: int) -> list[float]:
    """Milliseconds of each of `repeats` calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(1000 * (time.perf_counter() - start))
    return times


def summary(times: Sequence[float]) -> Figures:
    ordered = sorted(times)
    return {
        "median_ms": round(statistics.median(ordered), 2),
        "p99_ms": round(ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))], 2),
        "min_ms": round(ordered[0], 2),
    }


def floor(repeats: int) -> list[float]:
    """Bare fork and pipe from a process that has numba loaded."""
    out = subprocess.run(
        [sys.executable, "-c", FLOOR, str(repeats)], capture_output=True, text=True, check=True
    )
    return [1000 * float(word) for word in out.stdout.split()]


def fresh(code: str, repeats: int) -> list[float]:
    return timed(partial(subprocess.run, [sys.executable, "-c", code], check=True), repeats)


def nothing() -> int:
    return 0


def executor(repeats: int) -> list[float]:
    """ProcessPoolExecutor: no isolation, no deadline, and it unpickles what the candidate sends."""
    with ProcessPoolExecutor(1) as pool:
        pool.submit(nothing).result()
        return timed(lambda: pool.submit(nothing).result(), repeats)


def trivial_task(key: str) -> EvaluationTask:
    domain = get_domain("tsp")
    step = domain.safe_baseline()[0].implementation
    source = (
        "import numpy as np\n\n\ndef run(env_data, state, calc_makespan_fn):\n"
        "    state.sequence = np.arange(len(env_data['distance_matrix']), dtype=np.int32)\n    return state\n"
    )
    trivial = type(step)(step.operator, source, "benchmark")
    return EvaluationTask(key, domain.smoke_instance(), (trivial,), 100, "work", (1,))


async def pool_overhead(repeats: int, cache: Path, mode: str) -> tuple[list[float], Figures]:
    """Milliseconds per evaluation, one at a time, and memory of the idle worker in MiB."""
    task = trivial_task("trivial")
    times = []
    async with EvaluatorPool("tsp", 1, sandbox=mode, cache_dir=cache) as pool:  # type: ignore[arg-type]
        for _ in range(10):
            result = await pool.evaluate(task)
            assert result.failure is None, result.diagnostic
        for _ in range(repeats):
            start = time.perf_counter()
            await pool.evaluate(task)
            times.append(1000 * (time.perf_counter() - start))
        memory = idle_memory()
    return times, memory


def idle_memory() -> Figures:
    """PSS of the zygote and its launcher."""
    pss = sum(p.memory_full_info().pss for p in psutil.Process().children(recursive=True))
    return {"pss_MiB_per_worker": round(pss / (1 << 20), 1)}


async def throughput(workers: int, evaluations: int, cache: Path) -> float:
    """Evaluations per second with all workers busy."""
    async with EvaluatorPool("tsp", workers, cache_dir=cache) as pool:
        await pool.evaluate(trivial_task("warm"))
        start = time.perf_counter()
        async with anyio.create_task_group() as group:
            for index in range(evaluations):
                group.start_soon(pool.evaluate, trivial_task(f"t{index}"))
        return round(evaluations / (time.perf_counter() - start), 1)


def measure(repeats: int) -> dict[str, object]:
    slow = max(repeats // 20, 5)
    gc.collect()
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        before = floor(repeats)
        isolated, memory = anyio.run(pool_overhead, repeats, cache, "best-effort")
        unsealed, _ = anyio.run(pool_overhead, repeats, cache, "off")
        per_second = {str(n): anyio.run(throughput, n, repeats, cache) for n in (1, 2)}
        bare = floor(repeats)
    figures: dict[str, object] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        "isolated evaluation": summary(isolated),
        "the same without sandbox": summary(unsealed),
        "bare fork and pipe (floor)": summary(before + bare),
        "python -c pass": summary(fresh("pass", slow)),
        "python -c 'import numpy, numba'": summary(fresh("import numpy, numba", slow)),
        "ProcessPoolExecutor": summary(executor(repeats)),
        "evaluations per second by workers": per_second,
        "memory": memory,
    }
    return figures


def show(figures: dict[str, object]) -> None:
    for name, value in figures.items():
        print(f"{name:36s} {value}")
    medians = {name: value["median_ms"] for name, value in figures.items() if _has_median(value)}  # type: ignore[index]
    ours = medians["isolated evaluation"]
    print(f"ratio to the floor                   {ours / medians['bare fork and pipe (floor)']:.2f}")
    importing = medians["python -c 'import numpy, numba'"]
    print(f"times cheaper than a fresh import    {importing / ours:.0f}")


def _has_median(value: object) -> bool:
    return isinstance(value, dict) and "median_ms" in value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--json", type=Path, help="write the figures there too")
    arguments = parser.parse_args()
    figures = measure(arguments.repeats)
    show(figures)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
