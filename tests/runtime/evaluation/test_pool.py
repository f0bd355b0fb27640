from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import psutil
import pytest

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.domains.core.contract import Implementation
from dga2d.runtime.evaluation.limits import EvaluationLimits
from dga2d.runtime.evaluation.pool import EvaluatorPool

pytestmark = pytest.mark.asyncio(loop_scope="module")
DOMAIN_FILE = Path(__file__).with_name("line_domain.py")
HEAD = "import numpy as np\n\n\ndef run(env_data, state, calc_makespan_fn):\n"


def distance(points: np.ndarray[Any, np.dtype[np.float64]], sequence: list[int]) -> float:
    return sum(abs(float(points[a]) - float(points[b])) for a, b in pairwise(sequence))


async def test_a_solution_is_verified_and_scored_by_the_parent(pool: EvaluatorPool, line: Any) -> None:
    result = await pool.evaluate(line.task())
    assert result.failure is None
    assert result.solution is not None
    solution = json.loads(result.solution)
    assert sorted(solution["sequence"]) == list(range(30))
    assert result.objective == pytest.approx(distance(line.instance().data["points"], solution["sequence"]))
    assert solution["metadata"] == {}


async def test_the_trace_tells_of_each_position(pool: EvaluatorPool, line: Any) -> None:
    result = await pool.evaluate(line.task())
    first, second = result.trace
    assert first.score_before is None
    assert first.score_after == second.score_before
    assert second.score_after == pytest.approx(result.objective)
    assert (first.work, second.work, result.work) == (0, 500, 500)


async def test_a_work_budget_is_reproducible_bit_for_bit(pool: EvaluatorPool, line: Any) -> None:
    first, second = [await pool.evaluate(line.task()) for _ in range(2)]
    other = await pool.evaluate(line.task(seed=(7, 2)))
    assert (first.solution, first.objective, first.work) == (second.solution, second.objective, second.work)
    assert other.solution != first.solution


async def test_positions_have_the_parts_of_the_budget_asked_for(pool: EvaluatorPool, line: Any) -> None:
    result = await pool.evaluate(line.task(line.order, line.swap, line.swap, shares=(1.0, 1.0, 3.0)))
    assert [position.work for position in result.trace] == [0, 125, 375]  # the first one leaves its part


async def test_what_calls_take_is_taken_off_before_positions_share_the_budget(
    pool: EvaluatorPool, line: Any
) -> None:
    costs = (20.0, 0.0, 80.0)
    result = await pool.evaluate(line.task(line.order, line.swap, line.swap, call_costs=costs))
    assert [position.work for position in result.trace] == [20, 200, 280]  # with the calls themselves
    assert result.work == 500


async def test_costs_of_calls_do_not_go_with_seconds(line: Any) -> None:
    with pytest.raises(ValueError, match="the budget is in seconds"):
        line.task(call_costs=(0.0, 10.0), budget=0.1, unit="s")
    with pytest.raises(ValueError, match="expected 2 costs of calls"):
        line.task(call_costs=(1.0,))


async def test_global_random_numbers_follow_from_the_seed(pool: EvaluatorPool, line: Any) -> None:
    source = (
        "import random\nimport numpy as np\nimport numba\n\n\n@numba.njit\ndef draw():\n"
        "    return np.random.random()\n\n\ndef run(env_data, state, calc_makespan_fn):\n"
        "    state.metadata['drawn'] = np.array([random.random(), np.random.random(), draw()])\n"
        "    state.sequence = np.arange(env_data['n'], dtype=np.int32)\n    return state\n"
    )
    tasks = [line.task(line.program(source, "order"), seed=(5, i)) for i in (1, 1, 2)]
    drawn = [json.loads((await pool.evaluate(task)).solution or b"")["metadata"]["drawn"] for task in tasks]
    assert drawn[0] == drawn[1]
    assert all(a != b for a, b in zip(drawn[0], drawn[2], strict=True))


async def test_a_time_budget_ends_in_time(pool: EvaluatorPool, line: Any) -> None:
    result = await pool.evaluate(line.task(budget=0.3, unit="s"))
    assert result.failure is None
    assert sum(position.elapsed_s for position in result.trace) >= 0.29  # by the clock of the budget itself
    assert result.elapsed_s > 0.0


FAILURES = {
    "syntax error": ("def run(:\n", "compile_error", "SyntaxError"),
    "no run": ("X = 1\n", "compile_error", "defines no function run"),
    "error at import": ("X = 1 / 0\n", "compile_error", "line 1"),
    "untypable numba": (
        "import numba\n\n\n@numba.njit\ndef f(x):\n    return x + 'a'\n\n\n"
        "def run(env_data, state, calc_makespan_fn):\n    f(1)\n    return state\n",
        "compile_error",
        "<operator>, line 10, in run: f(1)",
    ),
    "error": (HEAD + "    return 1 / 0\n", "runtime_error", "line 5, in run: return 1 / 0"),
    "no state": (HEAD + "    return None\n", "infeasible", "NoneType"),
    "list": (HEAD + "    state.sequence = [1, 2]\n    return state\n", "infeasible", "list"),
    "floats": (HEAD + "    state.sequence = np.zeros(3)\n    return state\n", "infeasible", "float64"),
    "matrix": (
        HEAD + "    state.sequence = np.zeros((3, 2), np.int32)\n    return state\n",
        "infeasible",
        "(3, 2)",
    ),
    "too big for int32": (
        HEAD + "    state.sequence = np.array([1 << 40])\n    return state\n",
        "infeasible",
        "beyond int32",
    ),
    "broken permutation": (
        HEAD + "    if env_data['n'] > 8:\n        state.sequence[:] = 0\n    return state\n",
        None,
        "",
    ),
    "memory": (HEAD + "    np.ones(1 << 40)\n    return state\n", "out_of_memory", "MemoryError"),
    "early exit": (HEAD + "    raise SystemExit(0)\n", "crashed", "SystemExit"),
}


@pytest.mark.parametrize("name", FAILURES)
async def test_a_failure_has_its_kind_and_a_diagnostic(
    name: str, pool: EvaluatorPool, line: Any, cache_dir: Path
) -> None:
    source, kind, words = FAILURES[name]
    result = await pool.evaluate(line.task(line.order, line.program(source)))
    assert result.failure == kind, result.diagnostic
    assert words in result.diagnostic
    assert len(result.diagnostic) <= 1500
    assert "site-packages" not in result.diagnostic
    assert str(cache_dir) not in result.diagnostic


async def test_int64_permutations_are_taken(pool: EvaluatorPool, line: Any) -> None:
    source = HEAD + "    state.sequence = np.arange(env_data['n'], dtype=np.int64)[::-1]\n    return state\n"
    result = await pool.evaluate(line.task(line.program(source, "order")))
    assert result.failure is None
    assert json.loads(result.solution or b"")["sequence"] == list(range(30))[::-1]


async def test_a_slice_of_the_wrong_size_in_compiled_code_is_told(pool: EvaluatorPool, line: Any) -> None:
    source = (
        "import numba\nimport numpy as np\n\n\n@numba.njit\ndef fill(a, n):\n"
        "    a[:n] = np.zeros(n + 1, a.dtype)\n\n\n"
        "def run(env_data, state, calc_makespan_fn):\n    fill(state.sequence, 3)\n    return state\n"
    )
    result = await pool.evaluate(line.task(line.order, line.program(source)))
    assert result.failure == "runtime_error"
    assert "ValueError: cannot assign slice from input of different size" in result.diagnostic


def machine_code(cache_dir: Path, program: Implementation) -> list[Path]:
    """What is kept of a program's compiled code."""
    return list((cache_dir / "machine-code").glob(f"{program.digest}-*"))


async def test_compiled_code_is_cached_once_and_for_all(
    pool: EvaluatorPool, line: Any, cache_dir: Path
) -> None:
    source = (
        "import numba\n\n\n@numba.njit\ndef twice(x):\n    return 2 * x\n\n\n"
        "def run(env_data, state, calc_makespan_fn):\n    twice(env_data['n'])\n    return state\n"
    )
    program = line.program(source)
    assert (await pool.evaluate(line.task(line.order, program))).failure is None
    (kept,) = machine_code(cache_dir, program)
    before = kept.stat().st_mtime_ns
    assert b".nbc" in kept.read_bytes()
    async with EvaluatorPool("line", 1, cache_dir=cache_dir, domain_file=DOMAIN_FILE) as another:
        assert (await another.evaluate(line.task(line.order, program))).failure is None
    assert [path.stat().st_mtime_ns for path in machine_code(cache_dir, program)] == [before]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["quicksort", "mergesort"])
async def test_compiled_code_sorts_though_numba_has_its_own_functions_to_compile(
    pool: EvaluatorPool, line: Any, cache_dir: Path, kind: str
) -> None:
    source = (
        "import numba\nimport numpy as np\n\n\n@numba.njit\ndef order(keys):\n"
        f"    return np.argsort(keys, kind='{kind}')\n\n\n"
        "def run(env_data, state, calc_makespan_fn):\n"
        "    state.sequence = order(-np.arange(float(env_data['n'])))\n    return state\n"
    )
    program = line.program(source, "order")
    result = await pool.evaluate(line.task(program))
    assert (result.failure, result.diagnostic) == (None, "")
    assert json.loads(result.solution or b"")["sequence"] == list(range(30))[::-1]
    assert b".nbc" in machine_code(cache_dir, program)[0].read_bytes()


LATE = """
import numba


@numba.njit
def late(x):
    total = 0.0
    for i in range(x):
        total += i % 7
    return total


def run(env_data, state, calc_makespan_fn):
    if env_data["n"] > 8:  # the trial's smoke instance is smaller
        late(env_data["n"])
    return state
"""


async def test_what_only_a_real_instance_reaches_is_compiled_in_its_time_and_not_kept(
    pool: EvaluatorPool, line: Any, cache_dir: Path
) -> None:
    program = line.program(LATE)
    task = line.task(line.order, program, budget=30.0, unit="s")
    replies = [await pool.evaluate(task) for _ in range(2)]
    assert [(reply.failure, reply.has_compiled) for reply in replies] == [(None, True)] * 2
    assert not (await pool.evaluate(line.task())).has_compiled
    assert b".nbc" not in b"".join(path.read_bytes() for path in machine_code(cache_dir, program))


async def test_the_compiler_is_no_part_of_what_a_position_takes_under_a_work_budget(
    pool: EvaluatorPool, line: Any
) -> None:
    steps = line.order, line.program(LATE.replace("% 7", "% 5"))
    timed, worked = [
        await pool.evaluate(line.task(*steps, budget=budget, unit=unit))
        for budget, unit in ((30.0, "s"), (500, "work"))
    ]
    assert (timed.has_compiled, worked.has_compiled) == (True, True)
    assert worked.trace[1].elapsed_s < timed.trace[1].elapsed_s  # microseconds beside a compilation


async def test_waiting_is_no_part_of_what_a_position_takes_under_a_work_budget(
    pool: EvaluatorPool, line: Any
) -> None:
    waiting = line.program(f"import time\n{HEAD}    time.sleep(0.4)\n    return state\n")
    timed, worked = [
        await pool.evaluate(line.task(line.order, waiting, budget=budget, unit=unit))
        for budget, unit in ((30.0, "s"), (500, "work"))
    ]
    assert (timed.failure, worked.failure) == (None, None)
    assert worked.trace[1].elapsed_s < 0.1 < 0.39 < timed.trace[1].elapsed_s
    assert worked.elapsed_s > 0.39


async def test_code_that_compiles_in_every_run_pays_for_it(pool: EvaluatorPool, line: Any) -> None:
    source = (
        "import numba\n\n\ndef run(env_data, state, calc_makespan_fn):\n"
        "    k = float(env_data['rng'].random())\n"
        "    numba.njit(cache=False)(lambda x: x + k)(1.0)\n    return state\n"
    )
    for _ in range(2):
        result = await pool.evaluate(line.task(line.order, line.program(source), budget=30.0, unit="s"))
        assert result.failure is None
    assert result.trace[1].elapsed_s > 0.01


INITIALISER = """
import numba
import numpy as np


@numba.njit
def order(n):
    return np.arange(n).astype(np.int32)


def run(env_data, state, calc_makespan_fn):
    state.sequence = order(env_data["n"])
    return state
"""


async def test_a_trial_may_use_an_initialiser_that_was_never_compiled(
    line: Any, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = line.program(INITIALISER, "order")
    pool = EvaluatorPool(
        "line", 1, EvaluationLimits(prepare_run_s=5.0), cache_dir=cache_dir, domain_file=DOMAIN_FILE
    )
    monkeypatch.setattr(pool, "_initialiser", lambda: first)
    async with pool:
        assert (await pool.evaluate(line.task(line.order, line.swap))).failure is None
        assert (await pool.evaluate(line.task(first, line.swap))).failure is None


LONG_UNITS = """
import time

import numpy as np


def run(env_data, state, calc_makespan_fn):
    while not env_data["budget"].exhausted():
        end = time.perf_counter() + 0.05
        while time.perf_counter() < end:
            pass
        env_data["budget"].charge(1)
    state.sequence = np.arange(env_data["n"], dtype=np.int32)
    return state
"""


async def test_a_trial_is_short_where_a_unit_of_work_takes_long(
    line: Any, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = line.program(LONG_UNITS, "order")
    failures = []
    for seconds in (0.0, 0.05):
        monkeypatch.setattr("dga2d.runtime.evaluation.pool.unit_seconds_of", lambda domain, s=seconds: s)
        async with EvaluatorPool(
            "line",
            1,
            EvaluationLimits(prepare_run_s=2.0, rehearsal_s=0.2),
            cache_dir=cache_dir,
            domain_file=DOMAIN_FILE,
            has_source_rules=False,
        ) as pool:
            failures.append((await pool.evaluate(line.task(slow, budget=3))).failure)
    assert failures == ["timeout", None]


async def test_metadata_that_is_not_finite_is_infeasible(pool: EvaluatorPool, line: Any) -> None:
    source = (
        HEAD + "    state.sequence = np.arange(env_data['n'])\n"
        "    state.metadata['x'] = np.array([float('nan')])\n    return state\n"
    )
    result = await pool.evaluate(line.task(line.program(source, "order")))
    assert result.failure == "infeasible"
    assert "no finite" in result.diagnostic


async def test_more_instances_than_a_worker_keeps_give_the_same_results_again(
    pool: EvaluatorPool, line: Any
) -> None:
    instances = [line.instance(n) for n in (20, 21, 22, 23, 24, 25)]
    rounds = [
        [(await pool.evaluate(line.task(instance=instance, budget=50))).solution for instance in instances]
        for _ in range(2)
    ]
    assert [len(json.loads(solution or b"")["sequence"]) for solution in rounds[0]] == [
        20,
        21,
        22,
        23,
        24,
        25,
    ]
    assert rounds[0] == rounds[1]


async def test_an_instance_larger_than_a_pipe_arrives_whole(pool: EvaluatorPool, line: Any) -> None:
    instance = line.instance(300_000)
    source = HEAD + "    state.sequence = np.argsort(env_data['points']).astype(np.int32)\n    return state\n"
    reply = await pool.evaluate(line.task(line.program(source, "order"), instance=instance))
    assert (reply.failure, reply.diagnostic) == (None, "")
    assert reply.objective == pytest.approx(np.ptp(instance.data["points"]))


async def test_an_order_larger_than_a_pipe_arrives_whole(pool: EvaluatorPool, line: Any) -> None:
    task = line.task(seed=tuple(range(20_000)), budget=200)
    first, second = [await pool.evaluate(task) for _ in range(2)]
    assert first.failure is None
    assert first.solution == second.solution != (await pool.evaluate(line.task(budget=200))).solution


async def test_the_death_of_the_child_that_waits_is_no_harm(pool: EvaluatorPool, line: Any) -> None:
    first = await pool.evaluate(line.task())
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # the child of the evaluation before may be ending
            if process.cpu_times().user < 0.3 and not process.children():
                process.kill()
    second = await pool.evaluate(line.task())
    assert second.failure is None
    assert second.solution == first.solution


async def test_a_cancelled_evaluation_frees_its_worker(pool: EvaluatorPool, line: Any) -> None:
    source = HEAD + "    while env_data['n'] > 8:\n        pass\n    return state\n"
    endless = line.task(line.order, line.program(source), budget=60.0, unit="s")
    with anyio.move_on_after(1.0) as scope:
        await pool.evaluate(endless)
    assert scope.cancelled_caught
    with anyio.fail_after(20):
        assert (await pool.evaluate(line.task())).failure is None


def kill_zygotes_that_evaluate() -> None:
    """Kill launchers that have a zygote with a child: the signal travels down to all of them."""
    for launcher in psutil.Process().children():
        if len(launcher.children(recursive=True)) >= 2:
            launcher.send_signal(signal.SIGKILL)


@pytest.mark.slow
async def test_a_killed_worker_is_replaced_and_its_task_run_again(pool: EvaluatorPool, line: Any) -> None:
    async with anyio.create_task_group() as group:
        results: list[EvaluationReply] = []

        async def evaluate() -> None:
            results.append(await pool.evaluate(line.task(budget=1.0, unit="s")))

        group.start_soon(evaluate)
        await anyio.sleep(0.4)
        kill_zygotes_that_evaluate()
    (result,) = results
    assert result.failure is None
    assert result.objective is not None


@pytest.mark.slow
async def test_a_worker_that_dies_twice_ends_the_task_as_crashed(pool: EvaluatorPool, line: Any) -> None:
    async with anyio.create_task_group() as group:
        results: list[EvaluationReply] = []

        async def evaluate() -> None:
            results.append(await pool.evaluate(line.task(budget=30.0, unit="s")))

        group.start_soon(evaluate)
        while not results:
            await anyio.sleep(0.1)
            kill_zygotes_that_evaluate()
    assert results[0].failure == "crashed"
    assert "died twice" in results[0].diagnostic
    assert (await pool.evaluate(line.task())).failure is None


async def test_waiting_tasks_start_longest_expected_first(line: Any, cache_dir: Path) -> None:
    finished: list[str] = []
    pool = EvaluatorPool(
        "line",
        1,
        sandbox="off",
        cache_dir=cache_dir,
        domain_file=DOMAIN_FILE,
    )

    async def run(request: EvaluationRequest) -> None:
        await pool.evaluate(request)
        finished.append(request.key)

    async def block(scope: anyio.CancelScope) -> None:
        with scope:
            await pool.evaluate(line.task(key="blocker", budget=60.0, unit="s"))

    async with pool:
        await run(line.task(key="warm"))
        async with anyio.create_task_group() as group:
            blocker = anyio.CancelScope()
            group.start_soon(block, blocker)
            await anyio.wait_all_tasks_blocked()
            for seconds in (1.0, 3.0, 2.0):
                group.start_soon(run, line.task(key=f"{seconds}", budget=seconds / 10, unit="s"))
            await anyio.wait_all_tasks_blocked()
            blocker.cancel()
    assert finished == ["warm", "3.0", "2.0", "1.0"]


@pytest.mark.slow
async def test_leaving_the_pool_leaves_no_process_and_no_descriptor(line: Any, cache_dir: Path) -> None:
    async def once() -> None:
        async with EvaluatorPool("line", 2, cache_dir=cache_dir, domain_file=DOMAIN_FILE) as pool:
            assert (await pool.evaluate(line.task())).failure is None

    await once()
    await asyncio.sleep(0)
    before, children = set(os.listdir("/proc/self/fd")), psutil.Process().children(recursive=True)
    await once()
    await asyncio.sleep(0)
    assert len(set(os.listdir("/proc/self/fd")) - before) == 0
    assert {p.pid for p in psutil.Process().children(recursive=True)} == {p.pid for p in children}


async def test_leaving_the_pool_while_tasks_run_ends_them(line: Any, cache_dir: Path) -> None:
    children = {p.pid for p in psutil.Process().children(recursive=True)}
    async with EvaluatorPool("line", 1, cache_dir=cache_dir, domain_file=DOMAIN_FILE) as pool:
        evaluation = asyncio.create_task(pool.evaluate(line.task(budget=60.0, unit="s")))
        await asyncio.sleep(0.8)
    with pytest.raises(Exception, match="closed"):
        await evaluation
    assert {p.pid for p in psutil.Process().children(recursive=True)} == children


async def test_an_error_of_the_caller_leaves_the_pool_as_it_is(line: Any, cache_dir: Path) -> None:
    pool = EvaluatorPool("line", 1, sandbox="off", cache_dir=cache_dir, domain_file=DOMAIN_FILE)
    with pytest.raises(LookupError, match="mine"):
        async with pool:
            raise LookupError("mine")


async def test_static_rules_refuse_a_text_unseen(line: Any, cache_dir: Path) -> None:
    async with EvaluatorPool("line", 1, sandbox="off", cache_dir=cache_dir, domain_file=DOMAIN_FILE) as pool:
        program = line.program("import os\n" + HEAD + "    return state\n")
        result = await pool.evaluate(line.task(line.order, program))
        broken = await pool.evaluate(line.task(line.order, line.program("def run(:\n")))
    assert result.failure == "forbidden"
    assert "line 1: import of os is not allowed" in result.diagnostic
    assert broken.failure == "compile_error"
    assert not machine_code(cache_dir, program)
