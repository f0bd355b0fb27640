"""A run whose writer ended before its first event gives its name back; an empty file is called empty."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dga2d.events import Draft, RunId
from dga2d.store import (
    EventStore,
    ForeignDatabaseError,
    LeaseLostError,
    RunBusyError,
    RunExistsError,
    open_store,
)

Drafter = Callable[[object], Draft]


async def test_a_run_without_events_can_be_created_again(
    store: EventStore, run_id: RunId, note: Drafter
) -> None:
    async with store.write(run_id, create=True, quotas={"llm-call": 5}) as first:
        pass
    async with store.write(run_id, create=True, quotas={"llm-call": 9}) as second:
        await second.append([note("begun")])
    assert second.epoch > first.epoch
    assert await store.quotas(run_id) == {"llm-call": 9}
    assert (await store.head(run_id)).seq == 1


async def test_a_run_with_an_event_is_never_created_again(
    store: EventStore, run_id: RunId, note: Drafter
) -> None:
    async with store.write(run_id, create=True) as writer:
        await writer.append([note("begun")])
    with pytest.raises(RunExistsError):
        async with store.write(run_id, create=True):
            pass


async def test_a_fork_without_events_of_its_own_is_never_created_again(
    store: EventStore, run_id: RunId, note: Drafter
) -> None:
    async with store.write(run_id, create=True) as writer:
        await writer.append([note("begun")])
    async with store.write(RunId("fork"), create=True, fork_of=(run_id, 1)):
        pass
    with pytest.raises(RunExistsError):
        async with store.write(RunId("fork"), create=True):
            pass


async def test_a_live_writer_keeps_its_run_before_the_first_event(
    store: EventStore, run_id: RunId, note: Drafter
) -> None:
    async with store.write(run_id, create=True) as writer:
        with pytest.raises(RunBusyError):
            async with store.write(run_id, create=True):
                pass
        await writer.append([note("still mine")])


async def test_a_writer_that_lost_its_unbegun_run_writes_nothing_more(
    url: str, run_id: RunId, note: Drafter
) -> None:
    now = 1_000_000
    async with open_store(url, clock=lambda: now) as store, open_store(url) as later:
        async with store.write(run_id, create=True) as late:
            async with later.write(run_id, create=True) as taker:
                await taker.append([note("taken over")])
            with pytest.raises(LeaseLostError):
                await late.append([note("too late")])
        assert (await later.head(run_id)).seq == 1


@pytest.mark.parametrize("quotas", [{}, {"llm-call": 4}, {"llm-call": 5}])
async def test_a_greater_grant_of_the_first_writer_keeps_the_name(
    store: EventStore, run_id: RunId, quotas: dict[str, int]
) -> None:
    async with store.write(run_id, create=True, quotas={"llm-call": 5, "llm-token": 100}):
        pass
    with pytest.raises(RunExistsError, match="greater limit"):
        async with store.write(run_id, create=True, quotas=quotas):
            pass
    async with store.write(run_id, create=True, quotas={"llm-call": 5, "llm-token": 100}):
        pass


@pytest.mark.parametrize("read_only", [True, False])
async def test_an_empty_file_is_said_to_hold_nothing_and_stays_empty(
    url: str, path: Path, read_only: bool
) -> None:
    path.touch()
    with pytest.raises(ForeignDatabaseError, match="holds nothing yet"):
        async with open_store(url, create=False, read_only=read_only):
            pass
    assert path.stat().st_size == 0


async def test_a_new_log_may_begin_in_an_empty_file(url: str, path: Path, run_id: RunId) -> None:
    path.touch()
    async with open_store(url) as store, store.write(run_id, create=True):
        pass
    assert path.stat().st_size > 0
