"""A fork reads its parent's events as its own, and what they did and used counts for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from dga2d.events import Draft, RecordedEvent, RunId
from dga2d.store import (
    DuplicateOperationError,
    EventStore,
    Head,
    QuotaExceededError,
    RunExistsError,
    UnknownEventError,
    UnknownRunError,
    check_page,
    open_store,
)

Drafter = Callable[[object], Draft]
Numbered = Callable[[int], Draft]
CHILD = RunId("child")
GRANDCHILD = RunId("grandchild")


async def read(
    store: EventStore, run_id: RunId, after: int = 0, until: int | None = None
) -> list[RecordedEvent]:
    return [event async for event in store.read(run_id, after, until)]


async def fill(store: EventStore, run_id: RunId, drafts: list[Draft], **how: object) -> None:
    async with store.write(run_id, create=True, **how) as writer:  # type: ignore[arg-type]
        await writer.append(drafts)


async def test_a_fork_reads_the_shared_events_and_its_own(
    store: EventStore, run_id: RunId, note: Drafter
) -> None:
    await fill(store, run_id, [note(i) for i in range(5)])
    parent = await read(store, run_id)
    async with store.write(CHILD, create=True, fork_of=(run_id, 3)) as writer:
        assert writer.head == Head(3, parent[2].hash)
        assert await read(store, CHILD) == parent[:3]
        own = await writer.append([note("own")])
    assert (own[0].seq, own[0].prev_hash, own[0].run_id) == (4, parent[2].hash, CHILD)
    assert await read(store, CHILD) == parent[:3] + own
    assert await read(store, CHILD, 1, 3) == parent[1:3]
    assert await store.verify(CHILD) == await store.head(CHILD) == Head(4, own[0].hash)
    assert await read(store, run_id) == parent


async def test_a_fork_copies_no_event(
    store: EventStore, run_id: RunId, note: Drafter, raw: Callable[[], sqlite3.Connection]
) -> None:
    await fill(store, run_id, [note(i) for i in range(5)])
    await fill(store, CHILD, [note("own")], fork_of=(run_id, 4))
    with closing(raw()) as connection:
        assert connection.execute("SELECT run_id, count(*) FROM events GROUP BY run_id").fetchall() == [
            (CHILD, 1),
            (run_id, 5),
        ]


@pytest.mark.parametrize("page_size", [1, 2, 1000])
async def test_forks_of_forks_read_through_all_their_ancestors(
    store: EventStore, run_id: RunId, note: Drafter, page_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dga2d.store._read.PAGE_SIZE", page_size)
    await fill(store, run_id, [note(i) for i in range(4)])
    await fill(store, CHILD, [note("c") for _ in range(3)], fork_of=(run_id, 2))
    await fill(store, GRANDCHILD, [note("g")], fork_of=(CHILD, 4))
    events = await read(store, GRANDCHILD)
    assert [(e.run_id, e.seq) for e in events] == [
        (run_id, 1),
        (run_id, 2),
        (CHILD, 3),
        (CHILD, 4),
        (GRANDCHILD, 5),
    ]
    assert (await store.verify(GRANDCHILD)).seq == 5


async def test_a_fork_within_the_shared_part_is_one_of_the_ancestor(
    store: EventStore, run_id: RunId, note: Drafter
) -> None:
    await fill(store, run_id, [note(i) for i in range(4)])
    await fill(store, CHILD, [note("c")], fork_of=(run_id, 3))
    await fill(store, GRANDCHILD, [note("g")], fork_of=(CHILD, 2))
    runs = {run.run_id: run for run in await store.runs()}
    assert (runs[GRANDCHILD].parent, runs[GRANDCHILD].parent_seq) == (run_id, 2)
    assert [e.run_id for e in await read(store, GRANDCHILD)] == [run_id, run_id, GRANDCHILD]


async def test_a_subscriber_of_a_fork_begins_with_the_shared_events(
    store: EventStore, run_id: RunId, note: Drafter
) -> None:
    await fill(store, run_id, [note(i) for i in range(3)])
    async with store.write(CHILD, create=True, fork_of=(run_id, 2)) as writer:
        await writer.append([note("own")])
        seen = []
        async for event in store.subscribe(CHILD):
            seen.append(event.seq)
            if event.seq == 3:
                break
    assert seen == [1, 2, 3]


async def test_an_operation_of_the_shared_part_is_not_done_again(
    store: EventStore, run_id: RunId, once: Numbered
) -> None:
    await fill(store, run_id, [once(1), once(2), once(3)])
    async with store.write(CHILD, create=True, fork_of=(run_id, 2)) as writer:
        with pytest.raises(DuplicateOperationError):
            await writer.append([once(2)])
        await writer.append([once(3)])  # the parent did it behind the fork
    await fill(store, GRANDCHILD, [], fork_of=(CHILD, 3))
    async with store.write(GRANDCHILD) as writer:
        for done in (1, 2, 3):
            with pytest.raises(DuplicateOperationError):
                await writer.append([once(done)])
        await writer.append([once(4)])


async def test_calls_of_the_shared_part_count_for_the_quota(
    store: EventStore, run_id: RunId, note: Drafter, reserve: Numbered
) -> None:
    await fill(store, run_id, [reserve(1), reserve(2), note("x"), reserve(3)], quotas={"llm-call": 3})
    async with store.write(CHILD, create=True, fork_of=(run_id, 3)) as writer:
        for number, error in (
            (1, DuplicateOperationError),
            (2, DuplicateOperationError),
            (4, QuotaExceededError),
        ):
            with pytest.raises(error):
                await writer.append([reserve(number)])
        await writer.append([reserve(3)])


async def test_the_database_itself_refuses_what_the_shared_part_used(
    store: EventStore, run_id: RunId, reserve: Numbered, note: Drafter, raw: Callable[[], sqlite3.Connection]
) -> None:
    await fill(store, run_id, [reserve(1)], quotas={"llm-call": 3})
    await fill(store, CHILD, [note("own")], fork_of=(run_id, 1))
    with closing(raw()) as connection, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute("INSERT INTO reservations VALUES (?, 'llm-call', 1, 3, 2)", (CHILD,))
    for statement in ("UPDATE lineages SET until_seq = 0", "DELETE FROM lineages"):
        with closing(raw()) as connection, pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)


async def test_a_fork_without_own_events_is_listed_and_can_be_gone_on_with(
    store: EventStore, run_id: RunId, note: Drafter, url: str
) -> None:
    await fill(store, run_id, [note(i) for i in range(3)])
    await fill(store, CHILD, [], fork_of=(run_id, 2))
    [_, child] = await store.runs()
    assert (child.head_seq, child.parent, child.parent_seq, child.last_type) == (2, run_id, 2, "RunPaused")
    async with store.write(CHILD) as writer:
        assert [e.seq for e in await writer.append([note("own")])] == [3]
    async with open_store(url, read_only=True) as reader:
        assert len(await read(reader, CHILD)) == 3


async def test_only_an_existing_event_can_be_forked(store: EventStore, run_id: RunId, note: Drafter) -> None:
    await fill(store, run_id, [note(1)])
    for origin, error in (((run_id, 2), UnknownEventError), ((RunId("no"), 1), UnknownEventError)):
        with pytest.raises(error):
            await fill(store, CHILD, [], fork_of=origin)
    with pytest.raises(UnknownRunError):
        await store.head(CHILD)
    with pytest.raises(RunExistsError):
        await fill(store, run_id, [], fork_of=(run_id, 1))


async def test_damage_of_the_shared_part_is_found_in_the_fork(
    store: EventStore, run_id: RunId, note: Drafter
) -> None:
    await fill(store, run_id, [note(i) for i in range(3)])
    await fill(store, CHILD, [note("own")], fork_of=(run_id, 2))
    events = await read(store, CHILD)
    for missing in range(4 - 1):
        from dga2d.store import CorruptEventError

        left = events[:missing] + events[missing + 1 :]
        if missing < len(events) - 1:
            with pytest.raises(CorruptEventError):
                check_page(left, Head(0, bytes(32)))
