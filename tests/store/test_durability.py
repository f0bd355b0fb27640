"""What was acknowledged survives; what was not is there whole or not at all."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from dga2d.events import BlobDigest, Draft, RunId
from dga2d.store import EventStore, StoreFullError, StoreLockedError, _sqlite, open_store

Drafter = Callable[[object], Draft]

APPENDER = textwrap.dedent("""
    import asyncio, os, sys
    from dga2d.events import Draft
    from dga2d.events.payloads import RunPaused
    from dga2d.store import open_store

    async def agent(writer, name):
        i = 0
        while True:
            text = f"{name}.{i}"
            drafts = [Draft("conductor", RunPaused(reason=f"{text}.{part}")) for part in range(3)]
            events = await writer.append(drafts, [text.encode()])
            os.write(1, f"{events[-1].seq} {events[-1].hash.hex()} {text}\\n".encode())
            i += 1

    async def main():
        async with open_store(sys.argv[1]) as store:
            async with store.write("run-1", create=sys.argv[2] == "create") as writer:
                await asyncio.gather(*[agent(writer, f"{sys.argv[3]}.{n}") for n in range(8)])

    asyncio.run(main())
""")


def run_and_kill(url: str, attempt: int, delay_s: float) -> list[tuple[int, str, bytes]]:
    """Let a process append until it is killed; returns what it was told is stored: number, hash, blob."""
    command = [sys.executable, "-c", APPENDER, url, "create" if attempt == 0 else "go on", str(attempt)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline()]
        time.sleep(delay_s)
        child.send_signal(signal.SIGKILL)
        lines += child.stdout.read().splitlines(keepends=True)
    acknowledged = []
    for line in lines:
        if line.endswith(b"\n"):  # the last one may be cut
            seq, link, text = line.split()
            acknowledged.append((int(seq), link.decode(), text))
    assert acknowledged
    return acknowledged


@pytest.mark.parametrize(
    "attempts",
    [
        2,
        pytest.param(8, marks=[pytest.mark.slow, pytest.mark.timeout(300)]),
        pytest.param(50, marks=[pytest.mark.long, pytest.mark.timeout(900)]),
    ],
)
async def test_acknowledged_events_survive_kill_9(url: str, run_id: RunId, attempts: int) -> None:
    rng = random.Random(0)
    acknowledged: list[tuple[int, str, bytes]] = []
    for attempt in range(attempts):
        acknowledged += run_and_kill(url, attempt, rng.uniform(0.0, 0.1))
        async with open_store(url) as store:
            head = await store.verify(run_id)
            assert head.seq % 3 == 0
            events = [event async for event in store.read(run_id)]
            for seq, link, text in acknowledged:
                assert events[seq - 1].hash.hex() == link
                assert await store.get_blob(BlobDigest(hashlib.sha256(text).hexdigest())) == text
            texts = [event.payload_bytes for event in events[::3]]
            assert len(set(texts)) == len(texts)


async def test_a_full_database_refuses_and_goes_on_when_there_is_room(
    store: EventStore, path: Path, run_id: RunId, note: Drafter
) -> None:
    async with store.write(run_id, create=True) as writer:
        await writer.append([note("before")])
        driver = writer._connection.driver  # type: ignore[attr-defined]
        [(pages,)] = await driver.execute_fetchall("PRAGMA page_count")
        await driver.execute_fetchall(f"PRAGMA max_page_count = {pages + 4}")
        with pytest.raises(StoreFullError, match="full"):
            await writer.append([note("too much")], [bytes(100_000)])
        head = await writer.append([note("small")])
        assert head[-1].seq == 2
        await driver.execute_fetchall("PRAGMA max_page_count = 100000")
        await writer.append([note("much")], [bytes(100_000)])
    assert (await store.verify(run_id)).seq == 3


async def test_a_database_locked_by_another_program_is_reported_and_recovered(
    url: str,
    run_id: RunId,
    note: Drafter,
    raw: Callable[[], sqlite3.Connection],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dga2d.store._sqlite_file.BUSY_TIMEOUT_S", 0.05)
    async with open_store(url) as store, store.write(run_id, create=True) as writer:
        with closing(raw()) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreLockedError, match="try again"):
                await writer.append([note("a")])
            with pytest.raises(StoreLockedError):
                await store.put_blobs([b"x"])
            assert await store.head(run_id) == (0, bytes(32))  # reading goes on
            other.execute("ROLLBACK")
        await writer.append([note("b")])
        assert (await store.verify(run_id)).seq == 1


async def test_a_commit_that_reports_an_error_but_took_place_is_acknowledged(
    store: EventStore, path: Path, run_id: RunId, note: Drafter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def commit_and_complain(connection: sqlite3.Connection) -> None:
        connection.commit()
        cause = sqlite3.OperationalError("disk I/O error")
        cause.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise cause

    async with store.write(run_id, create=True) as writer:
        with monkeypatch.context() as patch:
            patch.setattr(_sqlite, "commit_now", commit_and_complain)
            events = await writer.append([note("a")])
        assert [event.seq for event in events + await writer.append([note("b")])] == [1, 2]
    assert (await store.verify(run_id)).seq == 2


async def test_a_commit_in_doubt_is_settled_before_the_next_append(
    store: EventStore, path: Path, run_id: RunId, note: Drafter, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = sqlite3.OperationalError("disk I/O error")
    broken.sqlite_errorcode = sqlite3.SQLITE_IOERR

    def commit_and_break(connection: sqlite3.Connection) -> None:
        connection.commit()
        patch.setattr(writer._connection.driver, "execute_fetchall", fail)  # type: ignore[attr-defined]
        raise broken

    async def fail(*_: object) -> None:
        raise broken

    async with store.write(run_id, create=True) as writer:
        await writer.append([note("a")])
        with monkeypatch.context() as patch:
            patch.setattr(_sqlite, "commit_now", commit_and_break)
            with pytest.raises(StoreFullError):
                await writer.append([note("b")])
        assert [event.seq for event in await writer.append([note("c")])] == [3]
        with anyio.fail_after(5):
            subscription = aiter(store.subscribe(run_id, after=1))
            assert [(await anext(subscription)).seq for _ in range(2)] == [2, 3]
    assert (await store.verify(run_id)).seq == 3


@pytest.mark.parametrize("steps", range(0, 40, 3))
async def test_a_task_killed_at_any_step_leaves_the_store_usable(
    store: EventStore, run_id: RunId, note: Drafter, steps: int
) -> None:
    """``Task.cancel`` from outside, as at the end of the event loop, respects no shield."""

    async def work() -> None:
        async with store.write(run_id, create=True) as writer:
            for i in itertools.count():
                await writer.append([note(i), note(i)], [b"x"])
                await store.head(run_id)
                async for event in store.subscribe(run_id, after=i):
                    assert event.seq == i + 1
                    break

    task = asyncio.create_task(work())
    for _ in range(steps):
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    existing = bool(await store.runs())
    async with store.write(run_id, create=not existing) as writer:
        await writer.append([note("after"), note("after")])
    assert (await store.verify(run_id)).seq % 2 == 0
