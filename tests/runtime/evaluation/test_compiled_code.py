"""Compiled code on disk is believed only as it was sealed: for its implementation, platform and user."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dga2d.domains.core.contract import Implementation
from dga2d.runtime.evaluation.compiled_code import CompiledCodeStore
from dga2d.runtime.evaluation.pool import EvaluatorPool
from dga2d.runtime.evaluation.worker_pool import Job, Urgency, WorkerPool

DOMAIN_FILE = Path(__file__).with_name("line_domain.py")
CODE = b"machine code"
COMPILES = """
import numba
import numpy as np


@numba.njit
def order(n):
    return np.arange(n)[::-1].astype(np.int32)


def run(env_data, state, calc_makespan_fn):
    state.sequence = order(env_data["n"])
    return state
"""


def store(root: Path, key: bytes = b"k" * 32, platform: str = "x86") -> CompiledCodeStore:
    return CompiledCodeStore(root, key, platform)


def files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def test_what_was_kept_is_found_again_by_digest_and_platform(tmp_path: Path) -> None:
    store(tmp_path).save("aa", CODE)
    assert store(tmp_path).load("aa") == CODE
    assert store(tmp_path).load("bb") is None
    assert store(tmp_path, platform="arm").load("aa") is None
    store(tmp_path).save("aa", b"newer")
    assert store(tmp_path).load("aa") == b"newer"
    (path,) = files(tmp_path)
    assert path.stat().st_mode & 0o777 == 0o600


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "a bit of the code": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "a bit of the seal": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "cut short": lambda data: data[:-1],
    "nothing but a seal": lambda data: data[:32],
    "empty": lambda data: b"",
    "longer": lambda data: data + b"x",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_dropped(name: str, tmp_path: Path) -> None:
    store(tmp_path).save("aa", CODE)
    (path,) = files(tmp_path)
    path.write_bytes(DAMAGE[name](path.read_bytes()))
    assert store(tmp_path).load("aa") is None
    assert files(tmp_path) == []


def test_a_file_sealed_with_another_key_or_for_another_implementation_is_dropped(tmp_path: Path) -> None:
    store(tmp_path, key=b"x" * 32).save("aa", CODE)
    assert store(tmp_path).load("aa") is None
    store(tmp_path).save("aa", CODE)
    (path,) = files(tmp_path)
    shutil.copy(path, path.with_name(path.name.replace("aa", "bb")))
    assert store(tmp_path).load("bb") is None
    assert store(tmp_path).load("aa") == CODE


@pytest.mark.slow
async def test_where_no_key_can_be_kept_each_pool_compiles_for_itself(
    line: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    seals, program = set(), line.order  # compiled to bytes of Python, which are sealed as machine code is
    for _ in range(2):
        async with EvaluatorPool("line", 1, cache_dir=tmp_path, domain_file=DOMAIN_FILE) as pool:
            assert (await pool.evaluate(line.task(program))).failure is None
        (path,) = (tmp_path / "machine-code").iterdir()
        seals.add(path.read_bytes()[:32])
    assert len(seals) == 2


TWICE = """
import numba
import numpy as np

SHIFT = 1  # tunable: int 0..9
FROZEN = 0  # tunable: int 0..9


@numba.njit
def shifted(n, shift):
    return np.roll(np.arange(n), shift + FROZEN).astype(np.int32)


def run(env_data, state, calc_makespan_fn):
    state.sequence = shifted(env_data["n"], SHIFT)
    return state
"""


@pytest.mark.slow
async def test_configurations_share_machine_code_that_depends_on_none_of_their_constants(
    line: Any, tmp_path: Path
) -> None:
    texts = [TWICE, TWICE.replace("SHIFT = 1", "SHIFT = 2"), TWICE.replace("FROZEN = 0", "FROZEN = 1")]
    one, other, frozen = (Implementation(line.order.operator, text, "test") for text in texts)

    async def evaluate(*steps: Implementation) -> tuple[list[float], int]:
        reply = await pool.evaluate(line.task(*steps))
        assert reply.failure is None
        return [part.score_after for part in reply.trace], len(files(tmp_path / "machine-code"))

    async with EvaluatorPool("line", 1, cache_dir=tmp_path, domain_file=DOMAIN_FILE) as pool:
        first, second, third = await evaluate(one), await evaluate(other), await evaluate(frozen)
        assert first[0] != second[0] == third[0]
        assert [first[1], second[1], third[1]] == [1, 1, 2]
        assert (await evaluate(one, other))[0] == [*first[0], *second[0]]


@pytest.mark.slow
async def test_poisoned_machine_code_is_compiled_again(line: Any, tmp_path: Path) -> None:
    program = Implementation(line.order.operator, COMPILES, "test")

    async def evaluate() -> tuple[bytes | None, bool]:
        async with EvaluatorPool("line", 1, cache_dir=tmp_path, domain_file=DOMAIN_FILE) as pool:
            reply = await pool.evaluate(line.task(program))
        return reply.solution, reply.has_compiled

    first = await evaluate()
    (path,) = (tmp_path / "machine-code").iterdir()
    honest = path.read_bytes()
    path.write_bytes(honest[:32] + b"\x80\x04cos\nsystem\n(X\x04\x00\x00\x00exittR." + honest[32:])
    assert await evaluate() == first
    assert len(path.read_bytes()) == len(honest)


async def test_what_was_kept_passed_its_trial_and_is_not_tried_again(
    line: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = []
    submit = WorkerPool.submit

    async def counted(pool: WorkerPool, job: Job, urgency: Urgency) -> Any:
        jobs.append(job.fields["is_preparation"])
        return await submit(pool, job, urgency)

    monkeypatch.setattr(WorkerPool, "submit", counted)
    text = "STEP = 1  # tunable: 1..3\n\n\ndef run(env_data, state, calc_makespan_fn):\n    return state\n"
    first, other = line.program(text), line.program(text.replace("STEP = 1", "STEP = 2"))
    for sequence in ([(first, [True, True, False])], [(first, [False]), (other, [True, False])]):
        async with EvaluatorPool("line", 1, cache_dir=tmp_path, domain_file=DOMAIN_FILE) as pool:
            for step, expected in sequence:
                jobs.clear()
                assert await pool.count_uncompiled((line.order, step)) == sum(expected)
                assert (await pool.evaluate(line.task(line.order, step))).failure is None
                assert jobs == expected
