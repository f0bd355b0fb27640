"""What every event store promises (``dga2d.store._contract``)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import anyio
import pytest

from dga2d.events import (
    GENESIS_HASH,
    BlobDigest,
    Draft,
    RecordedEvent,
    RunId,
    StoredEvent,
)
from dga2d.events.payloads import RunPaused
from dga2d.store import (
    BlobMissingError,
    DuplicateOperationError,
    EventStore,
    Head,
    QuotaExceededError,
    RunExistsError,
    StoreClosedError,
    UnknownRunError,
    verify_events,
)

Drafter = Callable[[object], Draft]


async def read_all(store: EventStore, run_id: RunId, after: int = 0) -> list[RecordedEvent]:
    return [event async for event in store.read(run_id, after)]


async def test_append_returns_what_read_gives_back(store: EventStore, run_id: RunId, note: Drafter) -> None:
    async with store.write(run_id, create=True) as writer:
        first = await writer.append([note("a"), note("b")])
        second = await writer.append([Draft("conductor", RunPaused(reason="c"), generation=3, caused_by=1)])
        assert writer.head == Head(3, second[0].hash)
    stored = await read_all(store, run_id)
    assert stored == first + second
    assert [event.seq for event in stored] == [1, 2, 3]
    assert stored[0].prev_hash == GENESIS_HASH
    assert (stored[2].generation, stored[2].caused_by, stored[2].agent) == (3, 1, "conductor")
    assert stored[2].payload == RunPaused(reason="c")
    assert len({event.event_id for event in stored}) == 3
    assert await store.head(run_id) == await store.verify(run_id) == Head(3, stored[2].hash)


async def test_batches_of_any_size_are_stored_whole(store: EventStore, run_id: RunId, note: Drafter) -> None:
    appended: list[RecordedEvent] = []
    async with store.write(run_id, create=True) as writer:
        for size in (1, 3, 4, 5, 16, 17, 63, 64, 65, 149):
            blobs = [b"%d of %d" % (n, size) for n in range(size)]
            appended += await writer.append([note(f"{n} of {size}") for n in range(size)], blobs)
            digests = [BlobDigest(hashlib.sha256(blob).hexdigest()) for blob in blobs]
            assert await store.get_blobs(digests) == blobs
    assert await read_all(store, run_id) == appended
    assert await store.verify(run_id) == Head(387, appended[-1].hash)


async def test_read_honours_its_bounds_across_pages(
    store: EventStore, run_id: RunId, note: Drafter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dga2d.store._read.PAGE_SIZE", 3)
    async with store.write(run_id, create=True) as writer:
        await writer.append([note(i) for i in range(10)])
    for after, until, expected in [
        (0, None, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        (3, 6, [4, 5, 6]),
        (9, 10, [10]),
        (10, None, []),
    ]:
        assert [event.seq async for event in store.read(run_id, after, until)] == expected


@pytest.mark.parametrize(("page", "at_once"), [(10_000, 256), (3, 2), (4, 256), (1, 1)])
async def test_a_scan_hands_on_what_read_gives(
    store: EventStore,
    run_id: RunId,
    note: Drafter,
    monkeypatch: pytest.MonkeyPatch,
    page: int,
    at_once: int,
) -> None:
    monkeypatch.setattr("dga2d.store._read.PAGE_SIZE", page)
    monkeypatch.setattr("dga2d.store._database.SCAN_SIZE", at_once)
    async with store.write(run_id, create=True) as writer:
        await writer.append([note(n) for n in range(7)])
    fork = RunId("fork")
    async with store.write(fork, create=True, fork_of=(run_id, 5)) as writer:
        await writer.append([note(n) for n in range(2)])
    for run in (run_id, fork):
        for after, until in ((0, None), (0, 4), (3, 6), (5, None), (6, 100), (7, None)):
            scanned: list[StoredEvent] = []

            def take(events: list[StoredEvent], scanned: list[StoredEvent] = scanned) -> None:
                assert 0 < len(events) <= at_once
                scanned += events
                events.clear()  # a list is its receiver's own

            await store.scan(run, take, after, until)
            assert scanned == [tuple(event) async for event in store.read(run, after, until)]


async def test_what_a_scan_is_handed_to_may_raise(store: EventStore, run_id: RunId, note: Drafter) -> None:
    async with store.write(run_id, create=True) as writer:
        await writer.append([note(n) for n in range(7)])

        def refuse(events: list[StoredEvent]) -> None:
            raise ArithmeticError(events[-1][1])

        with pytest.raises(ArithmeticError, match="7"):
            await store.scan(run_id, refuse)
        await writer.append([note("after")])  # nothing is left open that would be in its way
    with pytest.raises(UnknownRunError):
        await store.scan(RunId("nobody"), refuse)


async def test_appends_of_many_tasks_are_gap_free_and_not_interleaved(
    store: EventStore, run_id: RunId, note: Drafter
) -> None:
    async with store.write(run_id, create=True) as writer:

        async def agent(name: int) -> None:
            for i in range(10):
                events = await writer.append([note(f"{name}.{i}.{part}") for part in range(3)])
                assert [event.seq - events[0].seq for event in events] == [0, 1, 2]

        async with anyio.create_task_group() as tasks:
            for name in range(16):
                tasks.start_soon(agent, name)
    events = await read_all(store, run_id)
    assert [event.seq for event in events] == list(range(1, 481))
    assert (await store.verify(run_id)).seq == 480


async def test_reservations_stop_at_the_quota(
    store: EventStore, run_id: RunId, note: Drafter, reserve: Callable[[int], Draft]
) -> None:
    async with store.write(run_id, create=True, quotas={"llm-call": 2}) as writer:
        await writer.append([reserve(1), reserve(2)])
        for call in (3, 0, -1):
            with pytest.raises(QuotaExceededError) as caught:
                await writer.append([note("x"), reserve(call)])
            assert (caught.value.kind, caught.value.amount) == ("llm-call", 2)
        with pytest.raises(DuplicateOperationError):
            await writer.append([reserve(2)])
    async with store.write(run_id) as writer:  # the amount outlives the writer
        with pytest.raises(QuotaExceededError):
            await writer.append([reserve(3)])
    async with store.write(run_id, quotas={"llm-call": 3}) as writer:
        await writer.append([reserve(3)])
    async with store.write(run_id, quotas={"llm-call": 1}) as writer:
        with pytest.raises(QuotaExceededError):
            await writer.append([reserve(4)])


async def test_blobs_come_back_under_their_digest(store: EventStore, run_id: RunId, note: Drafter) -> None:
    assert await store.put_blobs([b"a"]) == [hashlib.sha256(b"a").hexdigest()]
    digests = await store.put_blobs([b"", b"a", b"\x00" * 100_000])
    assert [await store.get_blob(digest) for digest in digests] == [b"", b"a", b"\x00" * 100_000]
    assert await store.put_blobs([]) == []
    async with store.write(run_id, create=True) as writer:
        await writer.append([note("x")], [b"with an event", b"a"])
        assert await writer.append([], [b"alone"]) == []
    for data in (b"with an event", b"alone"):
        assert await store.get_blob(BlobDigest(hashlib.sha256(data).hexdigest())) == data
    with pytest.raises(BlobMissingError):
        await store.get_blob(BlobDigest("0" * 64))


async def test_unknown_and_existing_runs_are_told_apart(
    store: EventStore, run_id: RunId, note: Drafter
) -> None:
    for attempt in (store.head(run_id), store.verify(run_id), anext(aiter(store.read(run_id)))):
        with pytest.raises(UnknownRunError):
            await attempt
    with pytest.raises(UnknownRunError):
        await anext(aiter(store.subscribe(run_id)))
    with pytest.raises(UnknownRunError):
        async with store.write(run_id):
            pass
    async with store.write(run_id, create=True) as writer:
        assert await store.head(run_id) == await store.verify(run_id) == Head(0, GENESIS_HASH)
        await writer.append([note("begun")])
    with pytest.raises(RunExistsError):
        async with store.write(run_id, create=True):
            pass


async def test_runs_are_listed_with_head_and_lease(store: EventStore, run_id: RunId, note: Drafter) -> None:
    assert await store.runs() == []
    async with store.write(run_id, create=True) as writer:
        [event] = await writer.append([note("x")])
        [summary] = await store.runs()
        assert summary.is_leased
    [summary] = await store.runs()
    assert not summary.is_leased
    assert (summary.run_id, summary.head_seq, summary.head_hash) == (run_id, 1, event.hash)
    assert (summary.last_type, summary.last_recorded_at) == ("RunPaused", event.recorded_at)
    assert (summary.domain, summary.created_at) == (None, event.recorded_at)
    async with store.write(RunId("empty"), create=True):
        pass
    assert [run.run_id for run in await store.runs()] == [run_id, "empty"]


async def test_a_later_writer_continues_under_a_greater_epoch(
    store: EventStore, run_id: RunId, note: Drafter
) -> None:
    async with store.write(run_id, create=True) as writer:
        await writer.append([note(1)])
        first = writer.epoch
    async with store.write(run_id) as writer:
        assert writer.epoch > first
        assert [event.seq for event in await writer.append([note(2)])] == [2]
    assert (await store.verify(run_id)).seq == 2


async def test_many_runs_are_written_and_read_at_once(store: EventStore, note: Drafter) -> None:
    async def work(name: str) -> None:
        run = RunId(name)
        async with store.write(run, create=True) as writer:
            await writer.append([note(name)])
            await store.put_blobs([name.encode()])
            async with anyio.create_task_group() as readers:
                for _ in range(3):
                    readers.start_soon(store.verify, run)

    async with anyio.create_task_group() as tasks:
        for i in range(20):
            tasks.start_soon(work, f"run-{i:02d}")
    assert sorted(run.run_id for run in await store.runs()) == [f"run-{i:02d}" for i in range(20)]


async def test_errors_of_the_block_come_out_as_they_are(store: EventStore, run_id: RunId) -> None:
    with pytest.raises(KeyError, match="mine"):
        async with store.write(run_id, create=True):
            raise KeyError("mine")
    async with store.write(run_id):  # and the lease was released
        pass


async def test_a_cancelled_block_releases_the_lease(store: EventStore, run_id: RunId) -> None:
    with anyio.move_on_after(0.01) as scope:
        async with store.write(run_id, create=True):
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    async with store.write(run_id):
        pass


async def test_a_closed_writer_refuses_and_finishes_what_was_under_way(
    store: EventStore, run_id: RunId, note: Drafter
) -> None:
    results: list[list[RecordedEvent]] = []

    async with anyio.create_task_group() as tasks, store.write(run_id, create=True) as writer:

        async def append(i: int) -> None:
            results.append(await writer.append([note(i)]))

        for i in range(5):
            tasks.start_soon(append, i)
        await anyio.lowlevel.checkpoint()
    assert len(results) == 5
    with pytest.raises(StoreClosedError):
        await writer.append([note("late")])


async def test_a_cancelled_append_is_stored_whole_or_not_at_all(
    store: EventStore, run_id: RunId, note: Drafter
) -> None:
    async with store.write(run_id, create=True) as writer:
        for delay in (0.0, 0.0002, 0.0005, 0.001, 0.002):
            for _ in range(5):
                with anyio.move_on_after(delay):
                    await writer.append([note("1 of 2"), note("2 of 2")])
        await writer.append([note("end")])
    events = await read_all(store, run_id)
    assert [event.payload_bytes for event in events[:-1:2]] == [b'{"reason":"1 of 2"}'] * (len(events) // 2)
    assert len(events) % 2 == 1
    await store.verify(run_id)


async def test_verified_passes_on_what_follows_a_known_head(
    store: EventStore, run_id: RunId, note: Drafter
) -> None:
    async with store.write(run_id, create=True) as writer:
        events = await writer.append([note(i) for i in range(5)])
    start = Head(2, events[1].hash)
    assert [event.seq async for event in verify_events(store.read(run_id, after=2), start)] == [3, 4, 5]
