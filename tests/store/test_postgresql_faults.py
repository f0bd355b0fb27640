"""Lost connections, killed servers, full disks: what was acknowledged is there once, and writing goes on."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest
from sqlalchemy import make_url
from tests.fakes.postgres_server import PostgresServer, running_server

from dga2d.events import Draft, RecordedEvent, RunId
from dga2d.store import (
    EventStore,
    EventWriter,
    StoreFullError,
    StoreLockedError,
    StoreUnavailableError,
    open_store,
)
from dga2d.store._postgresql import SETTINGS, PostgresDatabase

Drafter = Callable[[object], Draft]
KINDS = ("postgresql",)
CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dga2d'"


APPEND = re.compile(rb"(__asyncpg_stmt_\w+__)\x00(?:WITH found|INSERT INTO events)")
"""What names the one statement of an append, when the driver prepares it."""


class Wire:
    """The way to a server, which can be cut at an append, and stay cut."""

    def __init__(self, server: PostgresServer, folder: Path) -> None:
        self.is_open = True
        self._connections: list[asyncio.StreamWriter] = []
        self.cuts: list[str] = []
        """For each of the next appends that loses its connection: ``before`` the server hears of it,
        ``after`` it answered, or that it is to hear of ``late``, when another connection brings the next."""
        self.late: tuple[asyncio.StreamWriter, bytes] | None = None
        self._target = server.folder / ".s.PGSQL.5432"
        self.socket = folder / ".s.PGSQL.5432"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection."""
        self._connections.append(writer)
        with suppress(OSError):
            if self.is_open:
                backend, to_backend = await asyncio.open_unix_connection(self._target)
                is_deaf = asyncio.Event()
                back = asyncio.create_task(self._carry_back(backend, writer, is_deaf))
                there = asyncio.create_task(self._carry_there(reader, to_backend, is_deaf))
                await asyncio.wait([there, back], return_when=asyncio.FIRST_COMPLETED)
                for task in (there, back):
                    task.cancel()
                if self.late is None:
                    to_backend.close()
        writer.close()

    def close(self) -> None:
        """Cut all connections and let none through any more."""
        self.is_open = False
        for connection in self._connections:
            connection.close()

    async def _carry_there(
        self, reader: asyncio.StreamReader, to_backend: asyncio.StreamWriter, is_deaf: asyncio.Event
    ) -> None:
        appends: set[bytes] = set()
        while data := await reader.read(65536):
            if named := APPEND.search(data):
                appends.add(named[1])
            elif any(name in data for name in appends):
                if self.late is not None:
                    await self._carry_late(*self.late)
                elif self.cuts:
                    await self._cut(self.cuts.pop(0), to_backend, data, is_deaf)
                    return
            to_backend.write(data)

    async def _cut(
        self, how: str, to_backend: asyncio.StreamWriter, data: bytes, is_deaf: asyncio.Event
    ) -> None:
        if how == "after":
            is_deaf.set()
            to_backend.write(data)
            await asyncio.sleep(0.3)
        elif how == "late":
            self.late = to_backend, data

    async def _carry_late(self, to_backend: asyncio.StreamWriter, data: bytes) -> None:
        self.late = None
        to_backend.write(data)
        await asyncio.sleep(0.3)
        to_backend.close()

    async def _carry_back(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_deaf: asyncio.Event
    ) -> None:
        while data := await reader.read(65536):
            if not is_deaf.is_set():
                writer.write(data)


@pytest.fixture
async def wire(postgres_server: PostgresServer) -> AsyncIterator[Wire]:
    with tempfile.TemporaryDirectory(prefix="wire-") as folder:
        wire = Wire(postgres_server, Path(folder))
        async with await asyncio.start_unix_server(wire.serve, wire.socket):
            yield wire


def through(wire: Wire, url: str) -> str:
    parts = make_url(url)
    return parts.set(query={**parts.query, "host": str(wire.socket.parent)}).render_as_string()


@asynccontextmanager
async def writing(url: str, run_id: RunId) -> AsyncIterator[tuple[EventStore, EventWriter]]:
    async with open_store(url) as store, store.write(run_id, create=True, quotas={"llm-call": 9}) as writer:
        yield store, writer


async def reasons(store: EventStore, run_id: RunId) -> list[str]:
    await store.verify(run_id)
    return [json.loads(event.payload_bytes)["reason"] async for event in store.read(run_id)]


@pytest.mark.parametrize("blobs", [(), (b"blob",)], ids=["one table", "two tables"])
@pytest.mark.parametrize("cuts", [["before"], ["after"], ["before", "before", "after"], ["late"]])
async def test_an_append_that_lost_its_connection_is_stored_once(
    url: str, run_id: RunId, note: Drafter, wire: Wire, cuts: list[str], blobs: tuple[bytes, ...]
) -> None:
    async with writing(through(wire, url), run_id) as (store, writer):
        await writer.append([note("a")])
        wire.cuts += cuts
        with anyio.fail_after(60):
            events = await writer.append([note("b"), note("c")], blobs)
            assert not wire.cuts
            assert wire.late is None
            assert [event.seq for event in events + await writer.append([note("d")])] == [2, 3, 4]
        assert await reasons(store, run_id) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("cut", ["before", "after"])
async def test_a_commit_in_doubt_is_settled_when_the_server_is_back(
    url: str, run_id: RunId, note: Drafter, wire: Wire, cut: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostgresDatabase, "patience_s", 0.0)
    async with writing(through(wire, url), run_id) as (_, writer):
        await writer.append([note("a")])
        wire.cuts.append(cut)
        with pytest.raises(StoreUnavailableError, match="nothing acknowledged is lost"):
            await writer.append([note("b")])
        wire.close()
        with pytest.raises(StoreUnavailableError):
            await writer.append([note("not stored")])
        wire.is_open = True
        await writer.append([note("c")])
    async with open_store(url) as store:
        assert await reasons(store, run_id) == (["a", "b", "c"] if cut == "after" else ["a", "c"])


async def test_backends_that_are_killed_cost_nothing(
    url: str, run_id: RunId, note: Drafter, reserve: Callable[[int], Draft], postgres_server: PostgresServer
) -> None:
    acknowledged: list[RecordedEvent] = []
    async with writing(url, run_id) as (store, writer):

        async def append(name: int) -> None:
            for part in range(6):
                acknowledged.extend(await writer.append([note(f"{name}.{part}")]))
                await store.head(run_id)

        async def kill() -> None:
            for _ in range(3):
                await anyio.to_thread.run_sync(postgres_server.sql, CUT)

        with anyio.fail_after(100):
            async with anyio.create_task_group() as tasks:
                for name in range(4):
                    tasks.start_soon(append, name)
                tasks.start_soon(kill)
            await writer.append([reserve(1)])
        stored = [event async for event in store.read(run_id)]
    assert stored[:-1] == sorted(acknowledged, key=lambda event: event.seq)
    assert len({event.payload_bytes for event in stored}) == 25


async def test_a_full_disk_refuses_and_goes_on_when_there_is_room(
    url: str, run_id: RunId, note: Drafter, postgres_server: PostgresServer
) -> None:
    full = "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'"
    async with writing(url, run_id) as (store, writer):
        await writer.append([note("a")])
        postgres_server.sql(
            f"CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN {full}; END$$;"
            "CREATE TRIGGER disk BEFORE INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION fill()",
            url,
        )
        with pytest.raises(StoreFullError, match="free some space and resume"):
            await writer.append([note("too much")], [b"blob"])
        postgres_server.sql("DROP FUNCTION fill CASCADE", url)
        await writer.append([note("b")])
        assert await reasons(store, run_id) == ["a", "b"]


async def test_rows_locked_by_another_program_are_reported(
    url: str, run_id: RunId, note: Drafter, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SETTINGS, "lock_timeout", "100ms")
    async with writing(url, run_id) as (store, writer), AsyncExitStack() as stack:
        tasks = await stack.enter_async_context(anyio.create_task_group())
        lock = "BEGIN; LOCK TABLE leases; SELECT pg_sleep(2)"
        tasks.start_soon(anyio.to_thread.run_sync, postgres_server.sql, lock, url)
        await anyio.sleep(1.0)
        with pytest.raises(StoreLockedError, match="try again"):
            await writer.append([note("a")])
        await stack.aclose()
        await writer.append([note("b")])
        assert (await reasons(store, run_id))[-1] == "b"


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT, signal.SIGKILL])
async def test_a_restarted_server_is_waited_for(run_id: RunId, note: Drafter, how: signal.Signals) -> None:
    with running_server() as server:
        url = server.new_url()
        async with writing(url, run_id) as (store, writer), open_store(url, read_only=True) as other:
            subscription = aiter(other.subscribe(run_id))
            await writer.append([note(1)])
            assert (await anext(subscription)).seq == 1
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(anyio.to_thread.run_sync, server.restart, how)
                for i in range(2, 6):
                    await anyio.sleep(0.3)
                    await writer.append([note(i)])
                    assert (await anext(subscription)).seq == i
            assert (await store.verify(run_id)).seq == 5
            await subscription.aclose()  # type: ignore[attr-defined]
