"""What the log that agents write to promises: the database's, and the one in memory that their tests use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import anyio
import pytest
from tests.agents.memory_log import RUN, MemoryLog
from tests.fakes.postgres_server import PostgresServer

from dga2d.events import (
    GENESIS_HASH,
    BlobDigest,
    CanonicalEncodingError,
    Draft,
    OwnershipError,
    RecordedEvent,
    RunId,
    blob_digest,
    verify_links,
)
from dga2d.events.payloads import RunPaused, RunResumed
from dga2d.store import (
    LLM_CALLS,
    BlobMissingError,
    DuplicateOperationError,
    QuotaExceededError,
    open_store,
)

Drafter = Callable[[object], Draft]


class Appender(Protocol):
    async def append(self, drafts: Sequence[Draft], blobs: Sequence[bytes] = ()) -> list[RecordedEvent]: ...


class Source(Protocol):
    def subscribe(self, run_id: RunId, after: int = 0) -> AsyncIterator[RecordedEvent]: ...
    async def get_blob(self, digest: BlobDigest) -> bytes: ...


class Log(NamedTuple):
    """A new log, to be written and read."""

    writer: Appender
    source: Source

    async def all(self, count: int, after: int = 0) -> list[RecordedEvent]:
        """The next `count` events."""
        subscription = aiter(self.source.subscribe(RUN, after))
        with anyio.fail_after(5):
            return [await anext(subscription) for _ in range(count)]


Open = Callable[[int], AbstractAsyncContextManager[Log]]


@pytest.fixture(params=["sqlite", "postgresql", "memory"])
def log_of(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens an empty log that grants so many calls."""

    def url() -> str:
        if request.param == "sqlite":
            return f"sqlite+aiosqlite:///{tmp_path / 'log.db'}"
        server: PostgresServer = request.getfixturevalue("postgres_server")
        return server.new_url()

    @asynccontextmanager
    async def in_database(calls: int) -> AsyncIterator[Log]:
        quotas = {LLM_CALLS: calls} if calls else {}
        async with (
            open_store(url()) as store,
            store.write(RUN, create=True, quotas=quotas) as writer,
        ):
            yield Log(writer, store)

    @asynccontextmanager
    async def in_memory(calls: int) -> AsyncIterator[Log]:
        log = MemoryLog(calls)
        yield Log(log, log)

    return in_memory if request.param == "memory" else in_database


async def test_what_is_appended_is_numbered_linked_and_read_back(log_of: Open, note: Drafter) -> None:
    async with log_of(0) as log:
        first = await log.writer.append([note("a"), note("b")])
        draft = Draft("conductor", RunPaused(reason="c"), generation=3, caused_by=1)
        events = first + await log.writer.append([draft])
        assert await log.all(3) == events
        assert await log.all(1, after=2) == events[2:]
    assert [event.seq for event in events] == [1, 2, 3]
    assert verify_links(events, 0, GENESIS_HASH) == (3, events[-1].hash)
    assert (events[2].generation, events[2].caused_by, events[2].agent) == (3, 1, "conductor")
    assert events[2].payload == RunPaused(reason="c")
    assert len({event.event_id for event in events}) == 3


async def test_a_subscriber_gets_every_event_once_before_and_after_it_came(
    log_of: Open, note: Drafter
) -> None:
    async with log_of(0) as log:
        await log.writer.append([note(n) for n in range(3)])
        seen: list[int] = []

        async def follow(after: int) -> None:
            async for event in log.source.subscribe(RUN, after):
                seen.append(event.seq)
                if event.seq == 6:
                    return

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(follow, 0)
                tasks.start_soon(follow, 2)
                await anyio.sleep(0)
                await log.writer.append([note(3), note(4)])
                await log.writer.append([note(5)])
    assert sorted(seen) == sorted([1, 2, 3, 4, 5, 6, 3, 4, 5, 6])


async def test_appends_of_many_tasks_are_gap_free_and_not_interleaved(log_of: Open, note: Drafter) -> None:
    async with log_of(0) as log:

        async def agent(name: int) -> None:
            for i in range(5):
                events = await log.writer.append([note(f"{name}.{i}.{part}") for part in range(3)])
                assert [event.seq - events[0].seq for event in events] == [0, 1, 2]

        async with anyio.create_task_group() as tasks:
            for name in range(8):
                tasks.start_soon(agent, name)
        assert [event.seq for event in await log.all(120)] == list(range(1, 121))


async def test_an_agent_may_not_write_what_it_does_not_own(log_of: Open, note: Drafter) -> None:
    async with log_of(0) as log:
        with pytest.raises(OwnershipError):
            await log.writer.append([note("x"), Draft("initializer", RunPaused(reason="x"))])
        assert [event.seq for event in await log.writer.append([note("y")])] == [1]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**63, {1: "x"}, object()])
async def test_what_has_no_canonical_form_is_refused(log_of: Open, note: Drafter, value: object) -> None:
    draft = Draft("conductor", RunResumed(code_version="1", epoch=1, changed={"a": [value]}))
    async with log_of(0) as log:
        with pytest.raises(CanonicalEncodingError):
            await log.writer.append([note("x"), draft])
        assert [event.seq for event in await log.writer.append([note("y")])] == [1]


@pytest.mark.parametrize("number", [2**63, "1", 1.0, True])
async def test_an_envelope_holds_whole_numbers_only(log_of: Open, note: Drafter, number: Any) -> None:
    payload = RunPaused(reason="x")
    async with log_of(0) as log:
        for draft in (
            Draft("conductor", payload, generation=number),
            Draft("conductor", payload, caused_by=number),
        ):
            with pytest.raises(CanonicalEncodingError):
                await log.writer.append([note("x"), draft])
        assert [event.seq for event in await log.writer.append([note("y")])] == [1]


async def test_a_repeated_operation_is_refused_whole(
    log_of: Open, note: Drafter, once: Callable[[int], Draft]
) -> None:
    async with log_of(0) as log:
        await log.writer.append([once(1)])
        with pytest.raises(DuplicateOperationError) as caught:
            await log.writer.append([note("before"), once(1)], [b"orphan"])
        assert caught.value.operation == "generation-started/1"
        with pytest.raises(DuplicateOperationError):
            await log.writer.append([once(2), once(2)])
        assert [event.seq for event in await log.writer.append([once(2)])] == [2]
        with pytest.raises(BlobMissingError):
            await log.source.get_blob(blob_digest(b"orphan"))


async def test_a_refused_append_leaves_others_at_the_same_time_alone(
    log_of: Open, note: Drafter, once: Callable[[int], Draft]
) -> None:
    outcomes: list[str] = []
    async with log_of(0) as log:

        async def append(draft: Draft) -> None:
            try:
                await log.writer.append([draft])
                outcomes.append("stored")
            except DuplicateOperationError:
                outcomes.append("refused")

        async with anyio.create_task_group() as tasks:
            for i in range(10):
                tasks.start_soon(append, once(7))
                tasks.start_soon(append, note(i))
        assert len(await log.all(11)) == 11
    assert sorted(outcomes) == ["refused"] * 9 + ["stored"] * 11


async def test_calls_are_reserved_by_number_within_the_quota(
    log_of: Open, note: Drafter, reserve: Callable[[int], Draft]
) -> None:
    async with log_of(2) as log:
        await log.writer.append([reserve(1), reserve(2)])
        for call in (3, 0, -1):
            with pytest.raises(QuotaExceededError) as caught:
                await log.writer.append([note("x"), reserve(call)])
            assert (caught.value.kind, caught.value.amount) == (LLM_CALLS, 2)
        with pytest.raises(DuplicateOperationError):
            await log.writer.append([reserve(2)])


async def test_without_a_quota_nothing_can_be_reserved(log_of: Open, reserve: Callable[[int], Draft]) -> None:
    async with log_of(0) as log:
        with pytest.raises(QuotaExceededError):
            await log.writer.append([reserve(1)])


async def test_tasks_racing_for_a_number_get_it_once(log_of: Open, reserve: Callable[[int], Draft]) -> None:
    won: list[int] = []
    async with log_of(5) as log:

        async def racer() -> None:
            for call in range(1, 8):
                try:
                    await log.writer.append([reserve(call)])
                    won.append(call)
                except (DuplicateOperationError, QuotaExceededError):
                    continue

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(racer)
    assert sorted(won) == [1, 2, 3, 4, 5]


async def test_blobs_come_back_under_their_digest(log_of: Open, note: Drafter) -> None:
    async with log_of(0) as log:
        await log.writer.append([note("x")], [b"with an event", b""])
        assert await log.writer.append([], [b"alone", b"\x00" * 100_000]) == []
        for data in (b"with an event", b"", b"alone", b"\x00" * 100_000):
            assert await log.source.get_blob(blob_digest(data)) == data
        with pytest.raises(BlobMissingError):
            await log.source.get_blob(BlobDigest("0" * 64))
