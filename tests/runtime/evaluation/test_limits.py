"""Every limit can be set, is checked, and binds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dga2d.replay.settings import RunSettings
from dga2d.runtime.evaluation.limits import MIB, EvaluationLimits
from dga2d.runtime.evaluation.pool import EvaluatorPool
from dga2d.runtime.evaluator import evaluation_limits

DOMAIN_FILE = Path(__file__).with_name("line_domain.py")
HEAD = "import numpy as np\n\n\ndef run(env_data, state, calc_makespan_fn):\n"
Beyond = tuple[str, str, dict[str, Any]]
"""Body of a program, how it fails, and fields of its request."""
ENDLESS = "    while env_data['n'] > 8:\n        pass\n    return state\n"
SPACE: dict[str, Beyond] = {
    "memory_bytes": ("    np.ones(12 << 20)\n    return state\n", "out_of_memory", {}),
    "open_files": (
        "    files = [open(np.__file__) for _ in range(9)]\n    return state\n",
        "runtime_error",
        {},
    ),
    "answer_bytes": (
        "    state.sequence = np.argsort(env_data['points'])\n"
        "    state.metadata['x'] = np.zeros(1 << 10)\n    return state\n",
        "oversized_answer",
        {},
    ),
}
TIME: dict[str, Beyond] = {
    "wall_grace_s": (ENDLESS, "timeout", {"budget": 0.2, "unit": "s"}),
    "work_wall_s": (ENDLESS, "timeout", {}),
    "prepare_run_s": ("    while True:\n        pass\n", "timeout", {}),
}
LIMITS = [
    (EvaluationLimits(memory_bytes=64 * MIB, open_files=10, answer_bytes=1 << 12), SPACE),
    (EvaluationLimits(wall_grace_s=0.3, work_wall_s=0.3, prepare_run_s=0.3), TIME),
    (
        EvaluationLimits(load_s=0.5, prepare_run_s=1.0),
        {"load_s": ("    return state\n\n\nwhile True:\n    pass\n", "timeout", {})},
    ),
]
THREADS = (
    "import threading\nimport time\n\n\ndef run(env_data, state, calc_makespan_fn):\n"
    "    for _ in range({}):\n        threading.Thread(target=time.sleep, args=(0.2,)).start()\n"
    "    return state\n"
)


@pytest.mark.parametrize(("limits", "beyond"), LIMITS, ids=["space", "time", "import"])
async def test_limits_that_are_set_bind(
    limits: EvaluationLimits, beyond: dict[str, Beyond], line: Any, tmp_path: Path
) -> None:
    """Each program goes beyond one of the limits alone."""
    pool = EvaluatorPool(
        "line", 1, limits, cache_dir=tmp_path, domain_file=DOMAIN_FILE, has_source_rules=False
    )
    async with pool:
        for name, (body, kind, request) in beyond.items():
            program = line.program(HEAD + body)
            result = await pool.evaluate(line.task(line.order, program, **request))
            assert result.failure == kind, (name, result)


@pytest.mark.parametrize(
    ("file_bytes", "is_kept"), [(1 << 10, False), pytest.param(1 << 20, True, marks=pytest.mark.slow)]
)
async def test_the_limit_of_compiled_code_binds(
    file_bytes: int, is_kept: bool, line: Any, tmp_path: Path
) -> None:
    limits = EvaluationLimits(file_bytes=file_bytes)
    source = HEAD + "    return state\n" + "".join(f"\n\ndef f{i}():\n    return {i}\n" for i in range(20))
    program = line.program(source)
    async with EvaluatorPool("line", 1, limits, cache_dir=tmp_path, domain_file=DOMAIN_FILE) as pool:
        assert (await pool.evaluate(line.task(line.order, program))).failure is None
    assert any((tmp_path / "machine-code").glob(f"{program.digest}-*")) is is_kept


async def test_the_limit_of_processor_time_of_a_request_binds_under_a_work_budget(
    line: Any, tmp_path: Path
) -> None:
    source = HEAD + "    while env_data['n'] > 8:\n        pass\n    return state\n"
    endless = line.task(line.order, line.program(source), cpu_limit_s=0.2)
    async with EvaluatorPool("line", 1, cache_dir=tmp_path, domain_file=DOMAIN_FILE) as pool:
        result = await pool.evaluate(endless)
        honest = await pool.evaluate(line.task(cpu_limit_s=20.0))
    assert result.failure == "timeout"
    assert result.diagnostic.endswith("s of processor time were used of 0.2 s allowed")
    assert result.cpu_s >= 0.2
    assert honest.failure is None
    assert 0.0 < honest.cpu_s < 20.0


@pytest.mark.skipif("os.geteuid() == 0", reason="the kernel does not count the processes of root")
@pytest.mark.parametrize(("started", "kind"), [(2, None), (3, "forbidden")])
async def test_the_limit_of_processes_binds_ordinary_users(
    started: int, kind: str | None, line: Any, tmp_path: Path
) -> None:
    limits = EvaluationLimits(processes=2)
    pool = EvaluatorPool(
        "line", 1, limits, cache_dir=tmp_path, domain_file=DOMAIN_FILE, has_source_rules=False
    )
    async with pool:
        result = await pool.evaluate(line.task(line.order, line.program(THREADS.format(started))))
    assert result.failure == kind, result


def test_the_settings_of_a_run_reach_the_limits() -> None:
    settings = RunSettings(
        memory_limit=100, cpu_limit=5.0, grace_limit=2.0, work_time_limit=50.0, import_limit=4.0,
        compile_limit=60.0, process_limit=1, open_file_limit=12, file_size_limit=3, answer_limit=2,
    )  # fmt: skip
    assert evaluation_limits(settings) == EvaluationLimits(
        memory_bytes=100 * MIB, cpu_s=5.0, wall_grace_s=2.0, work_wall_s=50.0, load_s=4.0,
        prepare_s=60.0, processes=1, open_files=12, file_bytes=3 * MIB, answer_bytes=2 * MIB,
    )  # fmt: skip
    assert evaluation_limits(RunSettings()) == EvaluationLimits()


@pytest.mark.parametrize(
    ("name", "value"),
    [("memory_bytes", 0), ("cpu_s", 0.0), ("wall_grace_s", -1.0), ("processes", -1), ("answer_bytes", 0)],
)
def test_a_limit_out_of_range_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        EvaluationLimits(**{name: value})  # type: ignore[arg-type]
    EvaluationLimits(cpu_s=None, processes=0)
