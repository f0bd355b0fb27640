"""Trials of kernels in the sandbox, in an implementation of the library."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dga2d.agents.kernel_trials import KernelRunner
from dga2d.agents.proposing.kernel_answers import parse_kernel
from dga2d.agents.smoke_trials import TrialRunner
from dga2d.domains.core.contract import Domain, Implementation, Instance
from dga2d.domains.core.kernels import kernels_of
from dga2d.domains.core.registry import get_domain
from dga2d.replay.settings import RunSettings
from dga2d.runtime.evaluation.limits import EvaluationLimits
from dga2d.runtime.evaluation.pool import EvaluatorPool

KEYS = ("ta/ta01", "ta/ta02")
HEADS = """from numba import njit


@njit(cache=True)
def update_heads(order, start, p, jp, mp, c):
    {}
"""
ENDLESS = HEADS.format("while start >= 0:\n        start += 1")
HUNGRY = HEADS.format("for i in range(start, order.size):\n        c[order[i + 1]] = 0")


class World:
    """Instances and the texts of steps, as a run has them."""

    def __init__(self, domain: Domain) -> None:
        refs = {ref.key: ref for ref in domain.generated()}
        self._domain = domain
        self._instances = {key: domain.load(refs[key]) for key in KEYS}

    def instance(self, key: str) -> Instance:
        return self._instances[key]

    def smoke_instance(self) -> Instance:
        return self._domain.smoke_instance()

    def index(self, key: str) -> int:
        return KEYS.index(key)

    def size(self, key: str) -> int:
        return 1

    async def implementation(self, state: Any, step: Any) -> Implementation:
        return self._domain.safe_baseline()[0].implementation


@pytest.fixture
async def runner(tmp_path: Path) -> AsyncIterator[KernelRunner]:
    world: Any = World(get_domain("jsp"))
    limits = EvaluationLimits(prepare_run_s=2.0)
    async with EvaluatorPool("jsp", 1, limits, cache_dir=tmp_path, budget=(2000, "work")) as pool:
        yield KernelRunner(TrialRunner(pool, world, world))


STATE: Any = SimpleNamespace(
    header=SimpleNamespace(
        seed=1,
        splits=SimpleNamespace(train=[SimpleNamespace(key=key) for key in KEYS]),
        baseline=[None],
    ),
    settings=RunSettings(),
    generation=SimpleNamespace(number=1),
    graph=SimpleNamespace(initialisers=frozenset()),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "words"),
    [(ENDLESS, "timeout: the time limit was exceeded"), (HUNGRY, "it fails: IndexError")],
    ids=["endless", "outside"],
)
async def test_a_kernel_that_never_ends_or_leaves_its_arrays_is_refused(
    runner: KernelRunner, code: str, words: str
) -> None:
    domain = get_domain("jsp")
    kernel = next(kernel for kernel in kernels_of(domain) if kernel.id == "update_heads")
    new = parse_kernel(f"```python\n{code}```\n", kernel.source, kernel.id)
    hosts = [op.implementations[0] for op in domain.operators() if op.id == "critical_block_annealing"]
    trial = await runner.try_kernel(STATE, kernel.id, kernel.source, new, hosts)
    assert trial.stage == "unequal"
    assert words in trial.diagnostic
    assert trial.pairs == ()
