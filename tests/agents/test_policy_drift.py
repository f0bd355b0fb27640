"""A policy whose rebuilt parameters are not those of the log: refused, or accepted where the run says so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
import pytest_asyncio

from dga2d.agents.pipeline_sampler import PipelineSampler
from dga2d.agents.policy.contract import PipelinePolicy
from dga2d.events import RunId
from dga2d.replay.snapshots import load_state
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.runs.policies import restore_policy
from dga2d.store import EventStore, open_store

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation

pytestmark = pytest.mark.asyncio
RUN = RunId("parent")


@dataclass
class OtherProcessor:
    """A sampler and its policy where sums are rounded otherwise, from an update on."""

    identity: str
    first: int
    """The update that first comes out otherwise, from 1."""
    made: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.identity.rpartition(" ")[0]

    def digest(self) -> str:
        return self.identity.rpartition(" ")[2]

    def rebuild(self, before: RunState) -> str:
        generation = before.generation
        assert generation is not None
        self.made.append(generation.number)
        return "rounded otherwise" if len(self.made) >= self.first else self.digest()

    async def restored(self, store: EventStore, accepts_drift: bool) -> None:
        sampler, policy = cast(PipelineSampler, self), cast(PipelinePolicy, self)
        await restore_policy(store, RUN, sampler, policy, True, accepts_drift)


@pytest_asyncio.fixture
async def store(simulation: Simulation, tmp_path: Path) -> AsyncIterator[EventStore]:
    """A store with a run whose policy learned in each of its generations."""
    async with open_store(f"sqlite+aiosqlite:///{tmp_path}/log.db") as store:
        quotas: dict[str, Any] = {"llm-call": simulation.settings.llm_calls}
        async with store.write(RUN, create=True, quotas=quotas) as writer:
            await replace(simulation, run_id=RUN).process(writer, store, [])
        yield store


async def test_drift_is_refused_at_the_first_update_that_differs(store: EventStore) -> None:
    whole = await load_state(store, RUN)
    machine = OtherProcessor(whole.header.policy, 2)
    learned = [e.seq async for e in store.read(RUN) if e.type == "PolicyUpdated"]
    with pytest.raises(RunStateError, match=f"differs at event {learned[1]}.*policy_drift"):
        await machine.restored(store, accepts_drift=False)


async def test_a_run_that_accepts_drift_goes_on_with_all_its_updates(
    store: EventStore, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = await load_state(store, RUN)
    machine = OtherProcessor(whole.header.policy, 1)
    await machine.restored(store, accepts_drift=True)
    assert machine.made == sorted(whole.history)
    assert "other parameters than the log says" in capsys.readouterr().err
