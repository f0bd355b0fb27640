"""The same runs on the real store, and what ``replay --verify`` says of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dga2d.domains.core.contract import Domain
from dga2d.domains.core.registry import get_domain
from dga2d.events import Draft, RunId
from dga2d.events.payloads import LLMCallReserved
from dga2d.replay.state.digest import state_digest
from dga2d.runtime.inspection.runs import replay_run
from dga2d.store import open_store

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation

RUN = RunId("simulated")


@pytest.fixture
def travelling(simulation: Simulation) -> Simulation:
    """The simulation with the operators of the real TSP library."""
    domain: Domain = get_domain("tsp")
    baseline = tuple(str(step.operator) for step in domain.safe_baseline())
    return replace(
        simulation.changed(generations=2, max_length=6),
        operators=domain.operators(),
        card=domain.card,
        domain="tsp",
        baseline=baseline,
    )


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path / 'runs.db'}"


async def test_a_run_on_the_real_store_is_that_in_memory_and_every_decision_is_made_again(
    travelling: Simulation, url: str, anyio_run: Callable[..., str]
) -> None:
    async with open_store(url) as store, store.write(RUN, create=True, quotas=QUOTAS) as writer:
        await travelling.process(writer, store, [])
    report = await replay_run(url, RUN, verify=True)
    assert report["difference"] is None
    assert report["decisions"] > 30
    assert len(report["generations"]) == 2
    assert report["state_digest"] == anyio_run(travelling)


@pytest.fixture
def anyio_run() -> Callable[[Simulation], str]:
    """State digest of a simulation run in memory, from within a running loop."""
    from concurrent.futures import ThreadPoolExecutor

    def run(simulation: Simulation) -> str:
        with ThreadPoolExecutor(1) as pool:
            return state_digest(pool.submit(simulation.run).result()[0])

    return run


QUOTAS = {"llm-call": 50}


async def test_a_prompt_that_was_not_rendered_from_the_log_is_named(travelling: Simulation, url: str) -> None:
    async with open_store(url) as store, store.write(RUN, create=True, quotas=QUOTAS) as writer:
        await travelling.begin(writer, [])
        forged = LLMCallReserved(
            call=1,
            purpose="initialize",
            subject="initialize",
            attempt=0,
            prompt=(await store.put_blobs([b"Write me a poem."]))[0],
            template="initialize@1",
            model="offline",
        )
        await writer.append([Draft("initializer", forged, None, 1)], [b"Write me a poem."])
    assert (await replay_run(url, RUN, verify=False))["difference"] is None
    report = await replay_run(url, RUN, verify=True)
    assert str(report["difference"]).startswith(
        'event 2 (LLMCallReserved) of initializer: payload.prompt: expected "'
    )
    assert report["decisions"] == 1
