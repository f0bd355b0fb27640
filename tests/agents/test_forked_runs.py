"""Whole runs in a real store: stopped, resumed and forked, they decide the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from dga2d.events import Draft, RunId
from dga2d.events.payloads import RunForked
from dga2d.replay.snapshots import load_state
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.run_state import RunState
from dga2d.store import EventStore, open_store

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation


def digests(state: RunState) -> list[str]:
    return [state.history[t].state_digest for t in sorted(state.history)]


async def finish(simulation: Simulation, store: EventStore, run_id: RunId, **how: object) -> RunState:
    """A whole process on the run's log, to the end of the run."""
    named = replace(simulation, run_id=run_id)
    async with store.write(run_id, **how) as writer:  # type: ignore[arg-type]
        events = [event async for event in store.read(run_id)]
        await named.process(writer, store, events)
    return await load_state(store, run_id)


async def begun(simulation: Simulation, store: EventStore) -> RunState:
    return await finish(
        simulation, store, RunId("parent"), create=True, quotas={"llm-call": simulation.settings.llm_calls}
    )


async def fork(
    simulation: Simulation, store: EventStore, name: RunId, seq: int, changed: dict[str, object]
) -> RunState:
    async with store.write(name, create=True, fork_of=(RunId("parent"), seq)) as writer:
        payload = RunForked(
            parent=RunId("parent"), parent_seq=seq, code_version="test", epoch=writer.epoch, changed=changed
        )
        await writer.append([Draft("conductor", payload)])
    return await finish(simulation, store, name)


def in_store(path: Path, work: Callable[[EventStore], Awaitable[None]]) -> None:
    async def main() -> None:
        async with open_store(f"sqlite+aiosqlite:///{path}") as store:
            await work(store)

    anyio.run(main)


def closings(whole: RunState, log: list[tuple[int, str]]) -> list[int]:
    return [seq for seq, name in log if name in ("GraphInitialized", "GenerationCompleted")]


def test_a_fork_with_unchanged_settings_ends_like_its_parent(simulation: Simulation, tmp_path: Path) -> None:
    async def work(store: EventStore) -> None:
        whole = await begun(simulation, store)
        log = [(e.seq, e.type) async for e in store.read(RunId("parent"))]
        for generation, seq in enumerate(closings(whole, log)[:-1]):
            name = RunId(f"fork-{generation}")
            again = await fork(replace(simulation, order=seq), store, name, seq, {})
            assert again.parent == ("parent", seq)
            assert state_digest(again) == state_digest(whole)
            assert digests(again) == digests(whole)
            assert again.ledger.used == whole.ledger.used

    in_store(tmp_path / "log.db", work)


def test_a_fork_goes_on_with_other_settings_and_leaves_its_parent_alone(
    simulation: Simulation, tmp_path: Path
) -> None:
    async def work(store: EventStore) -> None:
        whole = await begun(simulation, store)
        head = await store.head(RunId("parent"))
        log = [(e.seq, e.type) async for e in store.read(RunId("parent"))]
        seq = closings(whole, log)[1]
        other = simulation.changed(evolution=False, generations=4)
        again = await fork(other, store, RunId("other"), seq, {"evolution": False, "generations": 4})
        assert again.completed == 4
        assert digests(again)[0] == digests(whole)[0]
        assert digests(again)[1] != digests(whole)[1]
        assert again.ledger.used < whole.ledger.used
        assert await store.verify(RunId("parent")) == head

    in_store(tmp_path / "log.db", work)


@settings(max_examples=5)
@given(share=st.floats(0, 1), order=st.integers(0, 99))
def test_a_stored_run_stopped_anywhere_and_resumed_ends_the_same(
    simulation: Simulation, tmp_path_factory: object, share: float, order: int
) -> None:
    """The prefix is a fork of the whole run: the same events, at any event."""
    small = simulation.changed(generations=2, pipelines=2, batch_size=1, validation_interval=1, llm_calls=0)
    path: Path = tmp_path_factory.mktemp("stopped") / "log.db"  # type: ignore[attr-defined]

    async def work(store: EventStore) -> None:
        whole = await begun(small, store)
        seq = 1 + int(share * (whole.seq - 2))
        async with store.write(RunId("stopped"), create=True, fork_of=(RunId("parent"), seq)):
            pass
        again = await finish(replace(small, order=order), store, RunId("stopped"))
        assert state_digest(again) == state_digest(whole)

    in_store(path, work)
