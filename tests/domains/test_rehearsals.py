"""What is compiled before an evaluation is all that it needs: no measured time goes to the compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from dga2d.agents.ports import EvaluationRequest
from dga2d.domains.core.contract import Instance
from dga2d.domains.core.registry import get_domain
from dga2d.runtime.evaluation.pool import EvaluatorPool

SHIPPED = (
    *("binpack3d", "clp3d", "cvrp", "fjsp", "fssp", "jsp", "maxcut", "mis", "ossp", "rcpsp", "salbp1", "tsp"),
)


def ordinary(name: str) -> Instance:
    """An instance from the middle of the list of those that the domain generates."""
    domain = get_domain(name)
    refs = sorted(domain.generated(), key=lambda ref: ref.key)
    return domain.load(refs[len(refs) // 2])


@pytest.mark.parametrize("name", SHIPPED)
def test_rehearsals_are_on_no_instance_of_a_split(name: str) -> None:
    domain = get_domain(name)
    rehearsal = domain.rehearsal_instance()
    assert rehearsal.key not in {ref.key for ref in domain.generated()}
    size = {key: getattr(value, "size", 1) for key, value in domain.environment(rehearsal).items()}
    smoke = {
        key: getattr(value, "size", 1) for key, value in domain.environment(domain.smoke_instance()).items()
    }
    assert sum(size.values()) > sum(smoke.values())
    assert rehearsal.reference is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "jsp" else pytest.mark.long) for name in SHIPPED],
)
async def test_no_baseline_compiles_while_it_is_measured(name: str, tmp_path: Path) -> None:
    domain, instance = get_domain(name), ordinary(name)
    async with EvaluatorPool(name, 1, cache_dir=tmp_path) as pool:
        for baseline in (domain.safe_baseline(), domain.basic_baseline(), domain.ils_baseline()):
            steps = tuple(step.implementation for step in baseline)
            reply = await pool.evaluate(EvaluationRequest("x", instance, steps, (1, 1), 1.0, "s"))
            assert reply.failure is None, reply.diagnostic
            assert not reply.has_compiled, [step.operator for step in baseline]
