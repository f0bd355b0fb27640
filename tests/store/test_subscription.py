"""Subscribers miss nothing, see nothing twice, and wake for events of any process."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dga2d.events import Draft, RunId
from dga2d.store import CorruptEventError, EventStore, open_store

Drafter = Callable[[object], Draft]


@given(
    batches=st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=12),
    starts=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 10)), min_size=1, max_size=6),
    tail_length=st.sampled_from([1, 3, 4096]),
)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_every_subscriber_sees_exactly_what_follows_its_start(
    tmp_path_factory: pytest.TempPathFactory,
    note: Drafter,
    batches: list[tuple[int, int]],
    starts: list[tuple[int, int]],
    tail_length: int,
) -> None:
    """`batches`: events and pause; `starts`: batch after which a subscriber starts, and where it begins."""
    total = sum(size for size, _ in batches)
    path = tmp_path_factory.mktemp("log") / "log.db"
    seen: list[list[int]] = [[] for _ in starts]
    run_id = RunId("r")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dga2d.store._read.TAIL_LENGTH", tail_length)
        async with open_store(f"sqlite+aiosqlite:///{path}") as store:

            async def follow(index: int, after: int) -> None:
                if after >= total:
                    return
                async for event in store.subscribe(run_id, after):
                    seen[index].append(event.seq)
                    if event.seq == total:
                        return

            with anyio.fail_after(10):
                async with store.write(run_id, create=True) as writer, anyio.create_task_group() as tasks:
                    for number, (size, pause) in enumerate(batches):
                        for index, (start, after) in enumerate(starts):
                            if start % len(batches) == number:
                                tasks.start_soon(follow, index, after)
                        await writer.append([note(i) for i in range(size)])
                        for _ in range(pause):
                            await anyio.lowlevel.checkpoint()
    assert seen == [list(range(after + 1, total + 1)) for _, after in starts]


async def test_a_subscriber_without_a_writer_sees_what_another_store_appends(
    store: EventStore, url: str, run_id: RunId, note: Drafter
) -> None:
    async with open_store(url) as other, other.write(run_id, create=True) as writer:
        subscription = aiter(store.subscribe(run_id))
        for i in range(3):
            await writer.append([note(i)])
            with anyio.fail_after(5):
                assert (await anext(subscription)).seq == i + 1
    await subscription.aclose()  # type: ignore[attr-defined]


async def test_a_subscription_outlives_the_writer_and_follows_the_next_one(
    store: EventStore, url: str, run_id: RunId, note: Drafter
) -> None:
    seen: list[int] = []

    async def follow() -> None:
        async for event in store.subscribe(run_id):
            seen.append(event.seq)
            if event.seq == 6:
                return

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks, open_store(url) as other:
            async with store.write(run_id, create=True) as writer:
                tasks.start_soon(follow)
                await writer.append([note(1), note(2)])
            async with other.write(run_id) as writer:
                await writer.append([note(3), note(4)])
            async with store.write(run_id) as writer:
                await writer.append([note(5), note(6)])
                while len(seen) < 6:
                    await anyio.sleep(0.01)
    assert seen == [1, 2, 3, 4, 5, 6]


async def test_a_subscription_ends_when_the_store_is_closed(url: str, run_id: RunId, note: Drafter) -> None:
    seen: list[int] = []
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks, open_store(url) as store:

            async def follow() -> None:
                async for event in store.subscribe(run_id):
                    seen.append(event.seq)

            async with store.write(run_id, create=True) as writer:
                tasks.start_soon(follow)
                await writer.append([note(1)])
            while not seen:
                await anyio.sleep(0.01)
            await anyio.sleep(0.05)  # mostly it waits for events by now
    assert seen == [1]


async def test_a_subscription_can_be_cancelled(store: EventStore, run_id: RunId) -> None:
    async with store.write(run_id, create=True):
        with anyio.move_on_after(0.05) as scope:
            async for _ in store.subscribe(run_id):
                raise AssertionError("there is nothing to see")
    assert scope.cancelled_caught


async def test_a_subscriber_does_not_jump_over_a_missing_event(
    url: str, run_id: RunId, note: Drafter, raw: Callable[[], sqlite3.Connection]
) -> None:
    async with open_store(url) as store, store.write(run_id, create=True) as writer:
        await writer.append([note(i) for i in range(3)])
    with closing(raw()) as connection:
        connection.execute("DROP TRIGGER events_refuse_delete")
        connection.execute("DELETE FROM events WHERE seq = 2")
    async with open_store(url) as store:
        with pytest.raises(CorruptEventError) as caught:
            async for _ in store.subscribe(run_id):
                pass
    assert caught.value.seq == 2
