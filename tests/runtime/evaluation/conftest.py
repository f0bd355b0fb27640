"""A pool on the tiny line domain, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.fakes.held_pool import hold

from dga2d.agents.ports import EvaluationRequest
from dga2d.domains.core.contract import Domain, Implementation, Instance, InstanceRef, OperatorName
from dga2d.runtime.evaluation.decoders import load_domain_file
from dga2d.runtime.evaluation.limits import EvaluationLimits
from dga2d.runtime.evaluation.pool import EvaluatorPool

DOMAIN_FILE = Path(__file__).with_name("line_domain.py")
LIMITS = EvaluationLimits(
    work_wall_s=60.0, wall_grace_s=30.0, load_s=60.0, prepare_run_s=60.0, memory_bytes=1 << 28
)
"""Limits of time that no honest program meets, however busy the machine is; those that shall be met stand in
``test_limits``."""


class Line:
    """The line domain and short ways to make tasks of it."""

    def __init__(self) -> None:
        self.domain: Domain = load_domain_file(DOMAIN_FILE)
        self.order, self.swap = (step.implementation for step in self.domain.safe_baseline())

    def instance(self, n: int = 30) -> Instance:
        return self.domain.load(InstanceRef("line", "line", f"line{n}-1", None))

    @staticmethod
    def program(source: str, operator: str = "swap") -> Implementation:
        return Implementation(OperatorName(operator), source, "test")

    def task(self, *steps: Implementation, key: str = "task", **fields: Any) -> EvaluationRequest:
        defaults: dict[str, Any] = {
            "instance": self.instance(), "budget": 500, "unit": "work", "seed": (7, 1),
        }  # fmt: skip
        return EvaluationRequest(key=key, steps=steps or (self.order, self.swap), **{**defaults, **fields})


@pytest.fixture(scope="session")
def line() -> Line:
    return Line()


@pytest.fixture(scope="session")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("implementations")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool(cache_dir: Path) -> AsyncIterator[EvaluatorPool]:
    """A pool without the static rules, so that the sandbox itself is what is tested."""
    made = EvaluatorPool(
        "line", 1, LIMITS, cache_dir=cache_dir, domain_file=DOMAIN_FILE, has_source_rules=False
    )
    async with hold(made) as running:
        yield running
